/** Button that copies a text. */
import { common } from '../../text/common.ts';
import { fill } from '../../ui/format.ts';
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
