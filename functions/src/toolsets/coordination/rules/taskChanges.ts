/** What changes with a task, in the one commit that changes it. */
import type { ClosedWork } from '../../../access/rules/agent.ts';
import type { Change } from '../../../kernel/commit.ts';
import type { TaskOutcome } from './machine.ts';
import { isHeld, type Task, type TaskLogEntry } from './task.ts';

/** A task's change of state, counted. */
export function taskChanges(before: Task, task: Task, version: string, now: Date): Change[] {
  return [{ kind: 'replaceTask', task, version }, countedChange(before, task, now)];
}

/** What a task adds to the record of who closed it. */
function closedWork({ status, claim, closedAt }: Task): { closed?: ClosedWork } {
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
): Change[] {
  if (kind === 'late') return [{ kind: 'replaceTask', task, version }];
  const changes = taskChanges(before, task, version, now);
  const holder = before.claim?.agentId ?? task.claim?.agentId;
  if (holder !== undefined) {
    const wasHeld = isHeld(before.status);
    changes.push({ kind: 'dropTask', agentId: holder, taskId: task.id, wasHeld, ...closedWork(task) });
  }
  if (task.status === 'available') return changes;
  for (const taskId of task.dependents) {
    changes.push(
      task.status === 'done'
        ? { kind: 'dependencyDone', taskId }
        : { kind: 'dependencyFailed', taskId, dependencyId: task.id },
    );
  }
  return changes;
}

/** What commits may change of tasks. */
export interface TaskChanges {
  readonly createTask: { readonly task: Task };
  readonly replaceTask: { readonly task: Task; readonly version: string };
  /** A dependency of the task was closed: one blocker fewer, or one that will never go. */
  readonly dependencyDone: { readonly taskId: string };
  readonly dependencyFailed: { readonly taskId: string; readonly dependencyId: string };
  readonly addDependents: {
    readonly taskId: string;
    readonly dependents: readonly string[];
    readonly version: string;
  };
  /** Written again where it is there already: its id says what it is about. */
  readonly logTask: { readonly taskId: string; readonly entry: TaskLogEntry };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends TaskChanges {}
}

/**
 * Moves a task from the counter of its former state, if it had one, to that of its new one. Its first claim
 * also adds its wait to those of the session.
 */
export function countedChange(before: Task | undefined, after: Task, at: Date): Change {
  const moved = before?.status !== after.status;
  const from = moved && before ? { [before.status]: -1 } : {};
  const to = moved ? { [after.status]: 1 } : {};
  const isFirstClaim = after.status === 'claimed' && before?.epoch === 0 && after.epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: { ...from, ...to },
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.createdAt.getTime()) }),
  };
}
