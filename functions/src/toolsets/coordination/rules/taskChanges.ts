/** What commits may change of tasks, and all that an outcome of a task changes. Source: docs/semantics.md#coordination. */

import type { ClosedWork } from '../../../agents/rules/agent.ts';
import {
  exactUsd,
  type GraphNode,
  NO_WORK,
  type NodeStatus,
  type Spent,
  titleOf,
} from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import { readIn } from '../../../kernel/ports.ts';
import type { CoordinationChange, TaskQueries } from './ports.ts';
import { isClosed, isHeld, type Task, type TaskOutcome, type TaskStatus } from './task.ts';

/** The task with more that was spent on it. */
export function withSpent(task: Task, more: Partial<Spent>): Task {
  const { input_tokens, output_tokens, cost_usd, milliseconds } = task.spent ?? NO_WORK;
  const spent = {
    input_tokens: input_tokens + (more.input_tokens ?? 0),
    output_tokens: output_tokens + (more.output_tokens ?? 0),
    cost_usd: exactUsd(cost_usd + (more.cost_usd ?? 0)),
    milliseconds: milliseconds + (more.milliseconds ?? 0),
  };
  return { ...task, spent };
}

/** The task with the time that its holder has worked on it, where it has just lost or left it. */
export function timed(before: Task, after: Task, now: Date): Task {
  const { claim } = before;
  if (claim === undefined || !isHeld(before.status) || (isHeld(after.status) && after.claim)) return after;
  return withSpent(after, { milliseconds: Math.max(0, now.getTime() - claim.claimed_at.getTime()) });
}

/** A task's change of state, counted. */
export function taskChanges(before: Task, task: Task, version: string, now: Date): CoordinationChange[] {
  return [
    { kind: 'replaceTask', before, task: timed(before, task, now), version },
    countedChange(before, task, now),
  ];
}

function closedWork(
  before: Task,
  { status, claim, completed_at: closedAt, parts_awaited }: Task,
): { closed?: ClosedWork } {
  // Whose work is done, whatever becomes of the rest.
  if (status === 'waiting' && parts_awaited !== undefined && before.claim !== undefined) {
    const worked = parts_awaited.since.getTime() - before.claim.claimed_at.getTime();
    return { closed: { status: 'done', at: parts_awaited.since, milliseconds: worked } };
  }
  if ((status !== 'done' && status !== 'failed') || claim === undefined || closedAt === undefined) return {};
  const milliseconds = closedAt.getTime() - claim.claimed_at.getTime();
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
  const holder = before.claim?.claimed_by ?? task.claim?.claimed_by;
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

/** Counts a task in its new state and no longer in its former one; a first claim also adds its wait. */

export function countedChange(before: Task | undefined, after: Task, at: Date): CoordinationChange {
  const moved = { ...(before && { [before.status]: -1 }), [after.status]: 1 };
  const isFirstClaim = after.status === 'claimed' && before?.claim_epoch === 0 && after.claim_epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: before?.status === after.status ? {} : moved,
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.created_at.getTime()) }),
  };
}

/** Tasks as parts of what they were made for. Source: docs/decisions/0035-graph-and-budgets.md. */
const STATUSES: Readonly<Record<TaskStatus, NodeStatus>> = {
  available: 'open',
  claimed: 'in_progress',
  in_progress: 'in_progress',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** An attempt is a claim. */
export function taskNode(task: Task): GraphNode {
  const { id, workspace, description, status, claim_epoch: attempts, spent = NO_WORK, created_at } = task;
  return {
    kind: 'task',
    thing_id: id,
    title: titleOf(description),
    workspace,
    status: STATUSES[status],
    attempts,
    spent,
    created_at,
    ...(task.part_of && { part_of: task.part_of }),
    ...(task.ancestors && { ancestors: task.ancestors }),
  };
}

/** Finds tasks of the workspace in which they are asked for. */
export function taskNodeFinder(tasks: TaskQueries): NodeFinder {
  return async (id, { workspace }) => {
    const found = await readIn((one) => one === workspace, tasks.find(id));
    if (found?.value.workspace !== workspace) return undefined;
    return { value: taskNode(found.value), version: found.version };
  };
}
