/** A diff as text, with added and removed lines. Agents wrote it, so it is shown as plain text. */
import { useSignal } from '@preact/signals';
import { common } from '../../../text/common.ts';
import { task as text } from '../../../text/task.ts';
import { fill } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { diffLines } from './diffLines.ts';

/** Lines that are shown at first, and with each press of the button. */
const PAGE = 400;

/** Words for screen readers, which do not read the signs and colors of changed lines. */
const WORDS: Readonly<Record<string, string>> = { added: text.addedLine, removed: text.removedLine };

export function Diff({ of }: { readonly of: string }) {
  const shown = useSignal(PAGE);
  const lines = diffLines(of);
  return (
    <>
      <pre class="patch">
        {lines.slice(0, shown.value).map(({ kind, text: words }, index) => (
          // The lines of a diff do not move.
          <span key={index} class={kind}>
            {WORDS[kind] !== undefined && <span class="away">{`${WORDS[kind]} `}</span>}
            <UserText text={words} limit={1000} />
            {'\n'}
          </span>
        ))}
      </pre>
      {lines.length > shown.value && (
        <p class="row">
          <button type="button" class="b quiet small" onClick={() => (shown.value += PAGE)}>
            {fill(common.showMore, { what: text.diffLines })}
          </button>
        </p>
      )}
    </>
  );
}
