/** Columns of the board. */
import type { Task } from '../../live/documents.ts';
import { merged } from '../../live/paging.ts';
import type { Counts, Live, OpenParts, Paged } from '../../live/states.ts';
import { stateOf } from '../../parts/taskState.ts';

export const COLUMNS = ['blocked', 'available', 'in_progress', 'waiting', 'verifying', 'closed'] as const;
export type Column = (typeof COLUMNS)[number];

interface BoardParts {
  readonly open: OpenParts;
  /** Stuck tasks, which a long list of other blocked tasks would hide. */
  readonly stuck: Paged<Task>;
  readonly closed: readonly Paged<Task>[];
  readonly counts: Live<Counts>;
}

export function columnOf(column: Column, { open, stuck, closed, counts }: BoardParts): Paged<Task> {
  switch (column) {
    case 'blocked':
      return filtered(merged([stuck, open.blocked]), ['never', 'blocked'], open.blocked.count);
    case 'available':
      return filtered(open.claimable, ['available'], open.claimable.count);
    case 'closed':
      return newestFirst(merged(closed));
    default:
      return filtered(
        open.held,
        column === 'in_progress' ? ['claimed', 'in_progress'] : [column],
        heldCount(column, counts),
      );
  }
}

/** Tasks that wait for an answer are counted as in progress, and verifying ones as waiting, so these are upper bounds. */
function heldCount(column: 'in_progress' | 'waiting' | 'verifying', counts: Live<Counts>): number | undefined {
  if (!('value' in counts)) return undefined;
  const { claimed = 0, in_progress = 0, waiting = 0 } = counts.value;
  return column === 'in_progress' ? claimed + in_progress : waiting;
}

/** @param counted number of tasks in these states; needed only if the part is not fully loaded */
function filtered(part: Paged<Task>, states: readonly string[], counted: number | undefined): Paged<Task> {
  const { live, more } = part;
  if (!('value' in live)) return { live, count: undefined, more: undefined };
  const rows = live.value.rows.filter((task) => states.includes(stateOf(task)));
  const count = more === undefined ? rows.length : counted === undefined ? undefined : Math.max(counted, rows.length);
  return { live: { ...live, value: { ...live.value, rows } }, count, more };
}

function newestFirst(part: Paged<Task>): Paged<Task> {
  if (!('value' in part.live)) return part;
  const time = ({ completed_at: at }: Task) => at?.getTime() ?? 0;
  const rows = [...part.live.value.rows].sort((one, other) => time(other) - time(one));
  return { ...part, live: { ...part.live, value: { ...part.live.value, rows } } };
}
