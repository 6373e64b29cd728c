/** Columns of open tasks on the board. */
import type { Task } from '../../live/documents.ts';
import { merged } from '../../live/paging.ts';
import type { Counts, Live, OpenParts, Paged } from '../../live/states.ts';
import { stateOf } from '../../parts/taskState.ts';

export const OPEN_COLUMNS = ['never', 'blocked', 'available', 'claimed', 'in_progress', 'waiting'] as const;
type State = (typeof OPEN_COLUMNS)[number];

/** @param stuck stuck tasks, which a long list of other blocked tasks would hide */
export function openColumn(
  state: State,
  { held, claimable, blocked }: OpenParts,
  stuck: Paged<Task>,
  counts: Live<Counts>,
): Paged<Task> {
  switch (state) {
    case 'never':
      // Earlier releases marked stuck tasks only in their dependencies, so they are in the list of blocked tasks.
      return columnOf(state, stuck, stuck.count, merged([stuck, blocked]).live);
    case 'blocked':
      return columnOf(state, blocked, difference(blocked.count, stuck.count));
    case 'available':
      return columnOf(state, claimable, claimable.count);
    default:
      return columnOf(state, held, 'value' in counts ? (counts.value[state] ?? 0) : undefined);
  }
}

/** @param counted number of tasks in this state; needed only if the part is not fully loaded */
function columnOf(state: State, part: Paged<Task>, counted: number | undefined, live = part.live): Paged<Task> {
  if (!('value' in live)) return { live, count: undefined, more: undefined };
  const rows = live.value.rows.filter((task) => stateOf(task) === state);
  const count =
    part.more === undefined ? rows.length : counted === undefined ? undefined : Math.max(counted, rows.length);
  return { live: { ...live, value: { ...live.value, rows } }, count, more: part.more };
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}
