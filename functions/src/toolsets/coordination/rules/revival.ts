/** Tasks that are tried again after they had ended. Source: docs/semantics.md#coordination. */
import { notPossible } from './notPossible.ts';
import type { Task, TaskStatus } from './task.ts';

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

function suggestionToRevive(status: TaskStatus): string {
  if (status === 'done') return 'What is done stays done: create another task with create_task.';
  return status === 'available'
    ? 'It waits to be claimed as it is.'
    : 'Take it from its holder with release_task, or end it with cancel_task first.';
}
