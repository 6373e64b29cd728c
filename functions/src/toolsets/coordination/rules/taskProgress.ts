/**
 * Progress of a claimed task: start, complete, fail. Each is one optimistic commit of the task, its holder and the
 * session's counters. Source: the coordination specification, "Worker Tools"; docs/semantics.md#coordination.
 */
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { CallRecord, RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { MAX_REPORT_BYTES, requireSize } from '../../../kernel/json.ts';
import { readUnreadable, Service, skipUnreadable } from '../../../kernel/ports.ts';
import type { SharedFile } from './files/heldFiles.ts';
import { unreservedFiles } from './files/reserving.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationPorts } from './ports.ts';
import { finishTask, partsChanged, reportOutcome, startTask } from './stateMachine.ts';
import {
  type Claimant,
  type ReportedOutcome,
  type Task,
  type TaskOutcome,
  type TaskResult,
  taskNotFound,
} from './task.ts';
import { noteWritten, outcomeChanges, taskChanges } from './taskChanges.ts';

/** Maximum share of a response for the tasks of one queue status, because a response can contain two such lists. */
export const MAX_STATE_SHARE = 0.5;

export class TaskQueue extends Service<CoordinationPorts> {
  /** Starts a claimed task. Starting it again with the same claim changes nothing. */
  async start(
    principal: Principal,
    taskId: string,
    claimant: Claimant,
    recordResponse: RecordResponse<Task>,
  ): Promise<Task> {
    const decide = (before: Task, now: Date) => ({ task: startTask(before, claimant, now) });
    const { task } = await this.change(taskId, workerIn(principal), decide, async (found, { task }, now) => {
      const changes = task === found.value ? [] : taskChanges(found.value, task, found.version, now);
      await this.ports.store.commit(changes, { ...recordResponse(task), onVersion: noteWritten(this.ports, task) });
    });
    return task;
  }

  /** Closes a task, and unblocks its dependents or marks them as stuck. @throws MusterError NOT_FOUND; CONFLICT */
  async reportOutcome(
    principal: Principal,
    taskId: string,
    { claimant, outcome }: { readonly claimant: Claimant; readonly outcome: ReportedOutcome },
    recordResponse: RecordResponse<TaskOutcome>,
  ): Promise<TaskOutcome> {
    requireSize('A report', outcome.kind === 'done' ? 'output' : 'error', outcome, MAX_REPORT_BYTES);
    const decide = (before: Task, now: Date) => reportOutcome(before, claimant, outcome, now);
    let shared: readonly SharedFile[] = [];
    const reported = await this.change(taskId, workerIn(principal), decide, async (found, taskOutcome, now) => {
      shared = outcome.kind === 'done' ? await unreservedFiles(this.ports, found.value, outcome.result) : [];
      await this.commit(found, taskOutcome, now, recordResponse({ ...taskOutcome, shared }));
    });
    return { ...reported, shared };
  }

  /** Completes a task whose pull request was merged. A closed task stays unchanged. @throws MusterError NOT_FOUND */
  finish(taskId: string, result: TaskResult): Promise<TaskOutcome> {
    const decide = (before: Task, now: Date) => finishTask(before, result, now);
    return this.change(
      taskId,
      () => true,
      decide,
      (found, taskOutcome, now) => this.commit(found, taskOutcome, now),
    );
  }

  /**
   * Updates a task that waits for its parts, after a part changed. Completes the task if all parts are done, or
   * stores which parts failed. The function reads the current state, so events can be repeated, late or out of order.
   */
  partsChanged(taskId: string): Promise<void> {
    const { tasks, graph, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(tasks.find(taskId));
      if (found?.value.parts_awaited === undefined || found.value.status !== 'waiting') return;
      const { value: before, version } = found;
      const now = clock.now();
      const task = partsChanged(before, await graph.progressOf({ kind: 'task', id: taskId }), now);
      if (task.status === 'done') return this.commit(found, { kind: 'accepted', task }, now);
      if (task !== before) await store.commit([{ kind: 'replaceTask', before, task, version }]);
    });
  }

  private async commit(
    { value: before, version }: Versioned<Task>,
    outcome: TaskOutcome,
    now: Date,
    record?: CallRecord,
  ): Promise<void> {
    const { sessions, store } = this.ports;
    const changes = outcome.kind === 'repeated' ? [] : outcomeChanges(before, outcome, version, now);
    const frees = changes.length > 0 && outcome.task.status === 'done' && before.dependents.length > 0;
    await store.commit([...changes, ...(frees ? await queueGrowth(sessions, before) : [])], record);
  }

  /**
   * Decides on a task and commits the decision. If this instance wrote the task last, no read is needed, because the
   * commit is refused if another instance has changed the task since. A decision that changes nothing has no such
   * check, so the task is read for it. Source: docs/decisions/0001-optimistic-commits.md
   */
  private change<Outcome extends { readonly task: Task }>(
    taskId: string,
    mayIn: (workspace: string) => boolean,
    decide: (task: Task, now: Date) => Outcome,
    commit: (found: Versioned<Task>, outcome: Outcome, now: Date) => Promise<void>,
  ): Promise<Outcome> {
    const { tasks, clock, randomness, writtenTasks } = this.ports;
    let written = writtenTasks.get(taskId);
    writtenTasks.delete(taskId);
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const changed = written && changedBy((task) => decide(task, now), written.value);
      const found = changed ? written : await readUnreadable(mayIn, tasks.find(taskId));
      written = undefined;
      if (found === undefined || !mayIn(found.value.workspace)) throw taskNotFound(taskId);
      const outcome = decide(found.value, now);
      await commit(found, outcome, now);
      return outcome;
    });
  }
}

function changedBy(decide: (task: Task) => { readonly task: Task }, task: Task): boolean {
  try {
    return decide(task).task !== task;
  } catch (error) {
    if (error instanceof MusterError) return false;
    throw error;
  }
}

/** Returns whether the caller has the role worker in a workspace. A task's workspace can differ from the call's. */
function workerIn(principal: Principal): (workspace: string) => boolean {
  return (workspace) => hasRole(roleIn(principal, workspace) ?? 'viewer', 'worker');
}
