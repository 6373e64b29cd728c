import { ICONS, type IconName } from './icons.ts';

interface IconProps {
  readonly of: IconName;
  readonly small?: boolean;
  readonly class?: string;
}

/** An icon is decoration: the words next to it, or the label of its button, say the same. */
export function Icon({ of, small = false, class: name = '' }: IconProps) {
  return (
    <svg
      class={`i ${of.startsWith('is-') ? of : ''} ${small ? 'small' : ''} ${name}`}
      viewBox="0 0 16 16"
      aria-hidden="true">
      <IconPaths of={of} />
    </svg>
  );
}

/** The paths of an icon, for use in another drawing. */
export function IconPaths({ of }: { readonly of: IconName }) {
  const [line = '', fill = '', over = ''] = ICONS[of].split('|');
  return (
    <>
      {fill !== '' && <path class="filled" d={fill} />}
      {line !== '' && <path d={line} />}
      {over !== '' && <path class="cutout" d={over} />}
    </>
  );
}
