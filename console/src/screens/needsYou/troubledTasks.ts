/** Open tasks that do not continue although they have not failed. */
import type { Task } from '../../live/documents.ts';
import { merged, pagedOf } from '../../live/paging.ts';
import type { Paged } from '../../live/states.ts';
import { blockedReason } from '../../parts/taskState.ts';

interface TroubledCandidates {
  readonly certain: Paged<Task>;
  /** Held tasks by the end of the lease, so that expired leases come first. */
  readonly expiring: Paged<Task>;
  /** Tasks that are being verified, by the time when they were handed in. */
  readonly verifying: Paged<Task>;
}

/** @param at current time, in milliseconds since 1970 */
export function troubledTasks({ certain, expiring, verifying }: TroubledCandidates, at: number): Paged<Task> {
  return merged([heldUp(certain, at), heldUp(expiring, at, IN_ORDER), heldUp(verifying, at, IN_ORDER)]);
}

/** Tasks in the order of the times after which they do not continue. */
const IN_ORDER = { isInOrder: true };

/** Omits tasks that continue. No query distinguishes an expired lease from a release on request. */
function heldUp(tasks: Paged<Task>, at: number, { isInOrder = false } = {}): Paged<Task> {
  const { live, more } = tasks;
  if (!('value' in live)) return tasks;
  const { rows, unreadable } = live.value;
  const held = rows.filter((task) => blockedReason(task, at) !== undefined);
  // Tasks that are not loaded have later times. If the last row continues, they continue too.
  const last = rows.at(-1);
  const isTruncated = more !== undefined && last !== undefined && (!isInOrder || held.includes(last));
  return pagedOf({ ...live, value: { rows: held, unreadable, isTruncated } }, undefined, { more: () => more?.() });
}
