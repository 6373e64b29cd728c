/** Choice of one option, as a row of buttons. */
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';

interface ChoicesProps<Name extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [name: Name, label: string, icon?: IconName])[];
  readonly chosen: Name;
  /** Number behind an option. */
  countOf?(name: Name): string | undefined;
  choose(name: Name): void;
}

export function Choices<Name extends string>({ legend, options, chosen, countOf, choose }: ChoicesProps<Name>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a row in every browser.
    <div class="seg" role="group" aria-label={legend}>
      {options.map(([name, label, icon]) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => choose(name)}>
          {icon !== undefined && <Icon of={icon} small />}
          {label}
          {countOf !== undefined && <span class="faint num">{countOf(name)}</span>}
        </button>
      ))}
    </div>
  );
}
