/** Tasks that are tried again after they had ended. Source: docs/semantics.md#coordination. */
import { notPossible } from './notPossible.ts';
import { isHeld, type Task, type TaskStatus } from './task.ts';
import { withSpent } from './taskChanges.ts';

/** How many former ends a task remembers. */
const MAX_FORMER_ENDS = 10;

/**
 * Puts a task into the queue again that failed or was cancelled. How it ended stays with it. Its former holders are heard
 * no more; its epoch goes on, and its tries begin anew.
 */
export function reviveTask(task: Task): Task {
  const { status, claim, closedAt, partsAwaited: _waited, result: _kept, ...rest } = task;
  if ((status !== 'failed' && status !== 'cancelled') || closedAt === undefined)
    throw notPossible(task, 'be tried again', undefined, suggestionToRevive(status));
  const { error, epoch, retries } = task;
  const end = {
    status,
    endedAt: closedAt,
    epoch,
    retries,
    ...(error !== undefined && { error }),
    ...(claim && { agentId: claim.agentId }),
  };
  return {
    ...rest,
    status: 'available',
    retries: 0,
    formerEnds: [...task.formerEnds, end].slice(-MAX_FORMER_ENDS),
    lapsedClaims: task.lapsedClaims.filter((lapsed) => lapsed.epoch !== epoch),
  };
}

/**
 * Opens a task again whose result is taken back: in the hands of who held it, with a lease that begins anew, or in the
 * queue. The time of that claim counts when it ends.
 * @param former as it was before its result came
 */
export function reopenTask(task: Task, former: Task, isHolderThere: boolean, now: Date): Task {
  if (task.status !== 'done') throw notPossible(task, 'be opened again');
  const { claim, ...rest } = former;
  if (!isHolderThere || claim === undefined || !isHeld(former.status))
    return { ...rest, status: 'available' };
  const leaseExpiresAt = new Date(now.getTime() + claim.leaseSeconds * 1000);
  const worked = Number(task.closedAt) - claim.claimedAt.getTime();
  return withSpent({ ...former, claim: { ...claim, leaseExpiresAt } }, { milliseconds: -worked });
}

/** Ends a task again that had ended before it was tried again, which is taken back. */
export function endAgain(task: Task, former: Task): Task {
  if (task.status !== 'available') throw notPossible(task, 'be ended again');
  return { ...former, formerEnds: task.formerEnds.slice(0, -1) };
}

function suggestionToRevive(status: TaskStatus): string {
  if (status === 'done') return 'What is done stays done: create another task with coordination.create_task.';
  return status === 'available'
    ? 'It waits to be claimed as it is.'
    : 'Take it from its holder with coordination.release_task, or end it with coordination.cancel_task first.';
}
