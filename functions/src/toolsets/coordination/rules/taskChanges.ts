/** What commits may change of tasks, and all that an outcome of a task changes. Source: docs/semantics.md#coordination. */

import type { ClosedWork } from '../../../access/rules/agent.ts';
import { exactUsd, NO_WORK, type Spent } from '../../../graph/rules/graphNode.ts';
import type { CoordinationChange } from './ports.ts';
import { isClosed, isHeld, type Task, type TaskOutcome } from './task.ts';

/** The task with more that was spent on it. */
export function withSpent(task: Task, more: Partial<Spent>): Task {
  const { inputTokens, outputTokens, costUsd, milliseconds } = task.spent ?? NO_WORK;
  const spent = {
    inputTokens: inputTokens + (more.inputTokens ?? 0),
    outputTokens: outputTokens + (more.outputTokens ?? 0),
    costUsd: exactUsd(costUsd + (more.costUsd ?? 0)),
    milliseconds: milliseconds + (more.milliseconds ?? 0),
  };
  return { ...task, spent };
}

/** The task with the time that its holder has worked on it, where it has just lost or left it. */
export function timed(before: Task, after: Task, now: Date): Task {
  const { claim } = before;
  if (claim === undefined || !isHeld(before.status) || (isHeld(after.status) && after.claim)) return after;
  return withSpent(after, { milliseconds: Math.max(0, now.getTime() - claim.claimedAt.getTime()) });
}

/** A task's change of state, counted. */
export function taskChanges(before: Task, task: Task, version: string, now: Date): CoordinationChange[] {
  return [
    { kind: 'replaceTask', before, task: timed(before, task, now), version },
    countedChange(before, task, now),
  ];
}

/** What a task adds to the record of who closed it. */
function closedWork(before: Task, { status, claim, closedAt, partsAwaited }: Task): { closed?: ClosedWork } {
  // Whose work is done, whatever becomes of the rest.
  if (status === 'waiting' && partsAwaited !== undefined && before.claim !== undefined) {
    const worked = partsAwaited.since.getTime() - before.claim.claimedAt.getTime();
    return { closed: { status: 'done', at: partsAwaited.since, milliseconds: worked } };
  }
  if ((status !== 'done' && status !== 'failed') || claim === undefined || closedAt === undefined) return {};
  const milliseconds = closedAt.getTime() - claim.claimedAt.getTime();
  return { closed: { status, at: closedAt, milliseconds } };
}

/** Everything that an outcome brings about: the task, its holder, its dependents, the queue. */
export function outcomeChanges(
  before: Task,
  { kind, task }: TaskOutcome,
  version: string,
  now: Date,
): CoordinationChange[] {
  if (kind === 'late') return [{ kind: 'replaceTask', task, before, version }];
  const changes = taskChanges(before, task, version, now);
  const holder = before.claim?.agentId ?? task.claim?.agentId;
  if (holder !== undefined) {
    const wasHeld = isHeld(before.status);
    changes.push({
      kind: 'dropTask',
      agentId: holder,
      taskId: task.id,
      wasHeld,
      ...closedWork(before, task),
    });
  }
  if (!isClosed(task.status)) return changes;
  for (const taskId of task.dependents) {
    changes.push(
      task.status === 'done'
        ? { kind: 'dependencyDone', taskId }
        : { kind: 'dependencyFailed', taskId, dependencyId: task.id },
    );
  }
  return changes;
}

/**
 * Moves a task from the counter of its former state, if it had one, to that of its new one. Its first claim
 * also adds its wait to those of the session.
 */

export function countedChange(before: Task | undefined, after: Task, at: Date): CoordinationChange {
  const moved = { ...(before && { [before.status]: -1 }), [after.status]: 1 };
  const isFirstClaim = after.status === 'claimed' && before?.epoch === 0 && after.epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: before?.status === after.status ? {} : moved,
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.createdAt.getTime()) }),
  };
}
