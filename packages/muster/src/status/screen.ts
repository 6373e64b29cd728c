import { HIDDEN } from '../../../../functions/src/kernel/hidden.ts';
import { cut, padded, widthOf } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

const INDENT = '  ';

/** @param width in columns of the terminal, to which lines are cut */
export function screenOf({ goal, progress, doing, waiting, questions }: Snapshot, width: number): string {
  const { percent, total, done, failed } = progress;
  const ended = `${done} of ${total} done (${percent} %)${failed > 0 ? `, ${failed} failed` : ''}`;
  const lines = [
    `Goal: ${plain(goal) || 'none is set'}`,
    `Tasks: ${ended}`,
    ...part('Who does what', 'nobody does anything', doing, ({ agent = '?', task, status, description }) => [
      agent,
      status === 'claimed' ? 'claimed' : 'at work',
      task,
      description,
    ]),
    ...part('What waits', 'nothing', waiting, ({ task, description, blocked, stuck }) => [
      stuck !== undefined ? 'stuck' : blocked ? 'blocked' : 'ready',
      task,
      description,
    ]),
    ...part('Questions to you', 'none', questions, ({ id, question }) => [id, question]),
  ];
  return `${lines.map((line) => cut(line, width)).join('\n')}\n`;
}

function part<Item>(
  title: string,
  none: string,
  items: readonly Item[],
  cells: (item: Item) => string[],
): string[] {
  if (items.length === 0) return ['', `${title}: ${none}`];
  const rows = items.map((item) => cells(item).map(plain));
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? '')))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0)));
  return ['', `${title}:`, ...lines.map((cells) => (INDENT + cells.join(INDENT)).trimEnd())];
}

/** Agents write these texts: none of them may steer the terminal. */
function plain(text: string): string {
  return text.replace(HIDDEN, ' ').replace(/[\s\p{Cs}\p{Co}]/gu, ' ');
}
