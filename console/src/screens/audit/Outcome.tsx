/** Result of an undo, with the items that it did not. */
import { Fragment } from 'preact';
import { z } from 'zod/mini';
import { audit as text } from '../../../text/audit.ts';
import { kinds } from '../../../text/common.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { RunTitle } from '../../parts/RunTitle.tsx';
import { AgentTitle, TaskTitle, TodoTitle } from '../../parts/Title.tsx';

const item = z.object({ kind: z.string(), id: z.string() });
type Item = z.output<typeof item>;

export const outcome = z.object({
  undone: z.array(item),
  refused: z.array(z.extend(item, { why: z.string() })),
  more: z._default(z.boolean(), false),
});
export type UndoOutcome = z.output<typeof outcome>;

export function Outcome({ of: { undone, refused, more } }: { readonly of: UndoOutcome }) {
  return (
    <div class="notice" role="status" aria-label={text.undoResult}>
      <Icon of="undo" />
      <div class="stack">
        <p>
          {undone.length === 0 ? (
            text.nothingToUndo
          ) : (
            <Fill text={text.undoneItems} with={{ titles: <Titles items={undone} /> }} />
          )}
          {more && ` ${text.more}`}
        </p>
        {refused.map((one) => (
          <p key={`${one.kind} ${one.id}`} class="bad">
            <Fill text={text.notUndone} with={{ title: <Title item={one} />, why: <UserText text={one.why} /> }} />
          </p>
        ))}
      </div>
    </div>
  );
}

function Titles({ items }: { readonly items: readonly Item[] }) {
  return (
    <>
      {items.map((one, index) => (
        <Fragment key={`${one.kind} ${one.id}`}>
          {index > 0 && ', '}
          <Title item={one} />
        </Fragment>
      ))}
    </>
  );
}

const TITLES: Readonly<Record<string, typeof TaskTitle>> = {
  task: TaskTitle,
  todo: TodoTitle,
  run: RunTitle,
  agent: AgentTitle,
};

function Title({ item: { kind, id } }: { readonly item: Item }) {
  const Known = TITLES[kind];
  const words = <UserText text={`${kinds[kind]?.[0] ?? kind} ${id}`} />;
  return Known === undefined ? words : <Known id={id} otherwise={words} />;
}
