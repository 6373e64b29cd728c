import { HIDDEN_CHARACTERS } from '../../../../functions/src/kernel/hiddenCharacters.ts';
import { cut, padded, widthOf } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

const INDENT = '  ';

/** Returns the text that is shown by `muster status`. @param width maximum length of a line, in columns */
export function screenOf({ goal, progress, doing, waiting, questions }: Snapshot, width: number): string {
  const { percent, total, done, failed } = progress;
  const ended = `${done} of ${total} done (${percent} %)${failed > 0 ? `, ${failed} failed` : ''}`;
  const lines = [
    `Goal: ${plain(goal) || 'not set'}`,
    `Tasks: ${ended}`,
    ...part('Held and verifying tasks', 'none', doing, ({ agent = '-', task, status, description }) => [
      agent,
      status.replace('_', ' '),
      task,
      description,
    ]),
    ...part('Waiting tasks', 'none', waiting, ({ task, description, blocked, stuck }) => [
      stuck !== undefined ? 'stuck' : blocked ? 'blocked' : 'claimable',
      task,
      description,
    ]),
    ...part('Questions for you', 'none', questions, ({ id, question }) => [id, question]),
  ];
  return `${lines.map((line) => cut(line, width)).join('\n')}\n`;
}

function part<Item>(title: string, none: string, items: readonly Item[], cells: (item: Item) => string[]): string[] {
  if (items.length === 0) return ['', `${title}: ${none}`];
  const rows = items.map((item) => cells(item).map(plain));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? '')))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0)));
  return ['', `${title}:`, ...lines.map((cells) => (INDENT + cells.join(INDENT)).trimEnd())];
}

/** Removes control characters, because agents write the texts and could otherwise control the terminal. */
function plain(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, ' ').replace(/[\s\p{Cs}\p{Co}]/gu, ' ');
}
