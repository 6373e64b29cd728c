/** State of a task as shown on the page, its title, and the end of its lease. */
import type { Task } from '../live/documents.ts';

/** A task whose result is handed in and not yet proven. */
export type Verifying = Task & { readonly proof: NonNullable<Task['proof']> };

/** Returns whether a task is being verified. A proof counts only while the task waits. */
export const isVerifying = (task: Task): task is Verifying => task.status === 'waiting' && task.proof !== null;

/** Returns the first line of the description. */
export function titleOf({ description }: Pick<Task, 'description'>): string {
  return description.split('\n', 1)[0] ?? '';
}

/** Returns the state to show for a task. Stuck, blocked and waiting tasks have separate states. */
export function stateOf(task: Task): string {
  if (isVerifying(task)) return 'verifying';
  const isHeld = ['claimed', 'in_progress'].includes(task.status);
  if (isHeld && task.waiting_for !== null) return 'waiting';
  const isStuck = task.stuck || task.stuck_by !== null || task.failed_dependencies.length > 0;
  if (isStuck && task.status === 'available') return 'never';
  return task.status === 'available' && task.blockers > 0 ? 'blocked' : task.status;
}

/** Returns the agent that works on a task, or that handed in the result that is being verified. */
export const workerOf = (task: Task): string | null =>
  task.claimed_by ?? (isVerifying(task) ? task.proof.agent_id : null);

export const isClosed = ({ status }: Pick<Task, 'status'>): boolean => ['done', 'failed', 'cancelled'].includes(status);

/**
 * Returns the end of a task's lease. A heartbeat renews the lease at once, but the stored end is updated only after
 * it has passed. A runner's lease always ends as stored.
 * @param lastSeen when the holder was last seen, in milliseconds since 1970
 */
export function leaseEnd(task: Task, lastSeen: number | undefined): number | undefined {
  if (task.lease_expires_at === null || task.claimed_by === null) return undefined;
  const stored = task.lease_expires_at.getTime();
  if (task.claimed_by_runner || lastSeen === undefined) return stored;
  return Math.max(stored, lastSeen + (task.lease_seconds ?? 0) * 1000);
}

/** Returns why an open task does not continue although it has not failed; undefined if it continues. */
export function blockedReason(task: Task, at: number): 'budget' | 'red' | 'lapsed' | 'verifying' | undefined {
  if (task.budget_wait !== null) return 'budget';
  if (task.failed_check !== null) return 'red';
  // If a person has been asked, the question waits for that person.
  if (isVerifying(task))
    return task.waiting_for === null && at > task.proof.since.getTime() + VERIFIED_WITHIN_MS ? 'verifying' : undefined;
  const end = leaseEnd(task, undefined);
  const isLeft = task.status === 'available' && task.lapsed_claims.length > 0 && !task.lapsed_claims.at(-1)?.released;
  // The holder may have renewed the lease. If so, the sweep updates the stored end within minutes.
  return isLeft || (end !== undefined && at > end + SWEEP_WITHIN_MS && isRunning(task)) ? 'lapsed' : undefined;
}

const SWEEP_WITHIN_MS = 10 * 60_000;
const VERIFIED_WITHIN_MS = 12 * 3_600_000;

const isRunning = (task: Task) => ['claimed', 'in_progress'].includes(task.status) && task.waiting_for === null;
