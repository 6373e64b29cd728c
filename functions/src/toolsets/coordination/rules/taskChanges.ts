/** Changes that follow from the change or outcome of a task. Source: docs/semantics.md#coordination. */
import type { ClosedWork } from '../../../agents/rules/agent.ts';
import {
  exactUsd,
  type GraphNode,
  NO_USAGE,
  type NodeStatus,
  titleOf,
  type Usage,
} from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { readUnreadable } from '../../../kernel/ports.ts';
import { freedFiles } from './files/reserving.ts';
import type { CoordinationChange, CoordinationPorts, TaskQueries } from './ports.ts';
import type { Counter } from './session.ts';
import { isClosed, isHeld, type Task, type TaskOutcome, type TaskStatus } from './task.ts';

/** Returns the task with this usage added. */
export function withSpent(task: Task, more: Partial<Usage>): Task {
  const { input_tokens, output_tokens, cost_usd, milliseconds } = task.spent ?? NO_USAGE;
  const spent = {
    input_tokens: input_tokens + (more.input_tokens ?? 0),
    output_tokens: output_tokens + (more.output_tokens ?? 0),
    cost_usd: exactUsd(cost_usd + (more.cost_usd ?? 0)),
    milliseconds: milliseconds + (more.milliseconds ?? 0),
  };
  return { ...task, spent };
}

/** Returns the task with the time that its holder worked added, if the change ends the holder's claim. */
export function timed(before: Task, after: Task, now: Date): Task {
  const { claim } = before;
  if (claim === undefined || !isHeld(before.status) || (isHeld(after.status) && after.claim)) return after;
  return withSpent(after, { milliseconds: Math.max(0, now.getTime() - claim.claimed_at.getTime()) });
}

/** Returns the changes of a task, of the session's counters, and of its reserved files if its claim ends. */
export function taskChanges(before: Task, after: Task, version: string, now: Date): CoordinationChange[] {
  const { task, changes } = freedFiles(before, timed(before, after, now));
  return [{ kind: 'replaceTask', before, task, version }, countedChange(before, task, now), ...changes];
}

/** Returns the changes that block the dependents of a task again. */
export function reopenedDependents(dependents: readonly Versioned<Task>[]): readonly CoordinationChange[] {
  return dependents.map(({ value: { id: taskId }, version }) => ({ kind: 'dependencyReopened', taskId, version }));
}

/** Returns a function that keeps a task with the version that a commit gave it. */
export function noteWritten(
  { writtenTasks }: Pick<CoordinationPorts, 'writtenTasks'>,
  value: Task,
): (version: string) => void {
  return (version) => void writtenTasks.set(value.id, { value, version });
}

function closedWork(
  before: Task,
  { status, claim, completed_at: closedAt, parts_awaited }: Task,
): { closed?: ClosedWork } {
  // The holder has finished, even if parts of the task are still open.
  if (status === 'waiting' && parts_awaited !== undefined && before.claim !== undefined) {
    const worked = parts_awaited.since.getTime() - before.claim.claimed_at.getTime();
    return { closed: { status: 'done', at: parts_awaited.since, milliseconds: worked } };
  }
  if ((status !== 'done' && status !== 'failed') || claim === undefined || closedAt === undefined) return {};
  // The author's work ended when the result was handed in.
  const milliseconds = (before.proof?.since ?? closedAt).getTime() - claim.claimed_at.getTime();
  return { closed: { status, at: closedAt, milliseconds } };
}

/** Returns all changes for an outcome: those of the task, the counters, the holder and the dependents. */
export function outcomeChanges(
  before: Task,
  { kind, task }: TaskOutcome,
  version: string,
  now: Date,
): CoordinationChange[] {
  if (kind === 'late') return [{ kind: 'replaceTask', task, before, version }];
  const changes = taskChanges(before, task, version, now);
  const holder = before.claim?.claimed_by ?? (isClosed(task.status) ? task.claim?.claimed_by : undefined);
  if (holder !== undefined) {
    const wasHeld = before.claim !== undefined && isHeld(before.status);
    changes.push({ kind: 'releaseTask', agentId: holder, taskId: task.id, wasHeld, ...closedWork(before, task) });
  }
  if (!isClosed(task.status)) return changes;
  for (const taskId of task.dependents)
    changes.push(
      task.status === 'done'
        ? { kind: 'dependencyDone', taskId }
        : { kind: 'dependencyFailed', taskId, dependencyId: task.id },
    );
  return changes;
}

/**
 * Returns the counters that count a task. `may_be_blocked` counts available tasks that can have blockers: dependencies,
 * the delay before a retry, the wait for files, or for a coding task the wait for a budget. A commit that changes only the task's blockers
 * does not change its counters, so commits that increment the blockers of an unknown task need not count it.
 */
function countersOf({
  status,
  deadline,
  dependencies,
  claim_epoch: claims,
  coding,
  context,
  file_wait,
}: Task): readonly Counter[] {
  const counters: Counter[] = [status];
  if (deadline !== undefined && !isClosed(status)) counters.push('may_be_late');
  const waitsForFiles = file_wait !== undefined && context.files.length > 0;
  const hasBlockers = dependencies.length > 0 || claims > 0 || coding !== undefined || waitsForFiles;
  if (status === 'available' && hasBlockers) counters.push('may_be_blocked');
  return counters;
}

/** Returns the numbers by which the counters change if tasks are created or replaced. */
export function countedBy(before: readonly Task[], after: readonly Task[]): Partial<Record<Counter, number>> {
  const by = new Map<Counter, number>();
  for (const counter of before.flatMap(countersOf)) by.set(counter, (by.get(counter) ?? 0) - 1);
  for (const counter of after.flatMap(countersOf)) by.set(counter, (by.get(counter) ?? 0) + 1);
  return Object.fromEntries([...by].filter(([, count]) => count !== 0));
}

/** Returns the change of the counters for a changed task. A first claim also adds the time waited for it. */
export function countedChange(before: Task | undefined, after: Task, at: Date): CoordinationChange {
  const isFirstClaim = before?.claim_epoch === 0 && after.claim_epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: countedBy(before ? [before] : [], [after]),
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.created_at.getTime()) }),
  };
}

/** Status that a task has as a node of the graph. Source: docs/decisions/0035-graph-and-budgets.md. */
const STATUSES: Readonly<Record<TaskStatus, NodeStatus>> = {
  available: 'open',
  claimed: 'in_progress',
  in_progress: 'in_progress',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Returns the graph node of a task. Each claim counts as an attempt. A failed check does not stop a task above it. */
export function taskNode(task: Task): GraphNode {
  const status = task.status === 'failed' && task.reviews !== undefined ? 'cancelled' : task.status;
  const { id, workspace, description, claim_epoch: attempts, spent = NO_USAGE, created_at } = task;
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

/** Returns a function that finds the graph nodes of a workspace's tasks. */
export function taskNodeFinder(tasks: TaskQueries): NodeFinder {
  return async (id, { workspace }) => {
    const found = await readUnreadable((one) => one === workspace, tasks.find(id));
    if (found?.value.workspace !== workspace) return undefined;
    return { value: taskNode(found.value), version: found.version };
  };
}
