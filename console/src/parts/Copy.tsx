/** Button that copies a text, and menu entry that copies the address of the page. */
import { common } from '../../text/common.ts';
import { fill } from '../../ui/format.ts';
import { Entry } from '../../ui/Menu.tsx';
import { ActionButton, tell } from './acting.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Name of the text, for the button: `branch name`. */
  readonly what: string;
}

export function CopyButton({ text, what }: CopyButtonProps) {
  return (
    <ActionButton
      only
      small
      kind="quiet"
      icon="copy"
      label={fill(common.copy, { what })}
      act={async () => {
        await navigator.clipboard.writeText(text);
        tell(common.copied);
      }}
    />
  );
}

export function CopyLink() {
  const copy = () => navigator.clipboard.writeText(location.href).then(() => tell(common.copied));
  return <Entry icon="copy" label={common.copyLink} choose={() => void copy()} />;
}
