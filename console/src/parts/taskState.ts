/** How a task stands, and until when it is held. */
import type { Task } from '../live/documents.ts';

/** What a task's stored state means to a person: one that waits for others is not simply available. */
export function stateOf(task: Task): string {
  const isHeld = ['claimed', 'in_progress'].includes(task.status);
  if (isHeld && task.waiting_for !== null) return 'waiting';
  const isStuck = task.stuck || task.stuck_by !== null || task.failed_dependencies.length > 0;
  if (isStuck && task.status === 'available') return 'never';
  return task.status === 'available' && task.blockers > 0 ? 'blocked' : task.status;
}

/**
 * When a claim ends. The sweep makes the lease longer only once it finds it lapsed, so an agent that was seen since
 * holds longer than is stored. A runner's lease is what is stored.
 * @param lastSeen when the holder was last seen, in milliseconds of the epoch
 */
export function leaseEnd(task: Task, lastSeen: number | undefined): number | undefined {
  if (task.lease_expires_at === null || task.claimed_by === null) return undefined;
  const stored = task.lease_expires_at.getTime();
  if (task.claimed_by_runner || lastSeen === undefined) return stored;
  return Math.max(stored, lastSeen + (task.lease_seconds ?? 0) * 1000);
}

/** Why an open task does not go on though nothing has failed; undefined where it does. */
export function whyHeld(task: Task, at: number): 'budget' | 'red' | 'lapsed' | undefined {
  if (task.budget_wait !== null) return 'budget';
  if (task.failed_check !== null) return 'red';
  const end = leaseEnd(task, undefined);
  const isLeft = task.status === 'available' && task.lapsed_claims.length > 0;
  // A holder that was seen since has it longer than is stored: the sweep tells the two apart within minutes.
  return isLeft || (end !== undefined && at > end + SWEPT_WITHIN_MILLISECONDS && isAtWork(task))
    ? 'lapsed'
    : undefined;
}

const SWEPT_WITHIN_MILLISECONDS = 10 * 60_000;

const isAtWork = (task: Task) =>
  ['claimed', 'in_progress'].includes(task.status) && task.waiting_for === null;
