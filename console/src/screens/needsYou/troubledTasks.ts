/** Open tasks that do not continue although they have not failed. */

import type { Task } from '../../live/documents.ts';
import { merged, pagedOf } from '../../live/paging.ts';
import type { Paged } from '../../live/states.ts';
import { blockedReason } from '../../parts/taskState.ts';

interface TroubledCandidates {
  readonly certain: Paged<Task>;
  /** Held tasks by the end of the lease, so that expired leases come first. */
  readonly expiring: Paged<Task>;
}

/** @param at current time, in milliseconds since 1970 */
export function troubledTasks({ certain, expiring }: TroubledCandidates, at: number): Paged<Task> {
  return merged([certain, expired(expiring, at)]);
}

function expired(expiring: Paged<Task>, at: number): Paged<Task> {
  const { live, more } = expiring;
  if (!('value' in live)) return expiring;
  const { rows } = live.value;
  const held = rows.filter((task) => blockedReason(task, at) !== undefined);
  // Tasks that are not loaded have later lease ends. If the last row's lease has not expired, neither have theirs.
  const last = rows.at(-1);
  const isTruncated = more !== undefined && last !== undefined && held.includes(last);
  const value = { rows: held, unreadable: live.value.unreadable, isTruncated };
  return pagedOf({ ...live, value }, undefined, { more: () => more?.() });
}
