/**
 * Progress of a claimed task: start, complete, fail. Each is one optimistic commit of the task, its holder and the
 * session's counters. Source: the coordination specification, "Worker Tools"; docs/semantics.md#coordination.
 */

import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { CallRecord, RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MAX_REPORT_BYTES, requireSize } from '../../../kernel/json.ts';
import { readUnreadable, Service, skipUnreadable } from '../../../kernel/ports.ts';
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
import { outcomeChanges, taskChanges } from './taskChanges.ts';

/** Maximum share of a response for the tasks of one queue status, because a response can contain two such lists. */
export const MAX_STATE_SHARE = 0.5;

export class TaskQueue extends Service<CoordinationPorts> {
  /** Starts a claimed task. Starting it again with the same claim changes nothing. */
  start(principal: Principal, taskId: string, claimant: Claimant, recordResponse: RecordResponse<Task>): Promise<Task> {
    return this.change(taskId, workerIn(principal), async ({ value: before, version }, now) => {
      const task = startTask(before, claimant, now);
      const changes = task === before ? [] : taskChanges(before, task, version, now);
      await this.ports.store.commit(changes, recordResponse(task));
      return task;
    });
  }

  /** Closes a task, and unblocks its dependents or marks them as stuck. @throws MusterError NOT_FOUND; CONFLICT */
  async reportOutcome(
    principal: Principal,
    taskId: string,
    { claimant, outcome }: { readonly claimant: Claimant; readonly outcome: ReportedOutcome },
    recordResponse: RecordResponse<TaskOutcome>,
  ): Promise<TaskOutcome> {
    requireSize('A report', outcome.kind === 'done' ? 'output' : 'error', outcome, MAX_REPORT_BYTES);
    return this.change(taskId, workerIn(principal), async (found, now) => {
      const taskOutcome = reportOutcome(found.value, claimant, outcome, now);
      await this.commit(found, taskOutcome, now, recordResponse(taskOutcome));
      return taskOutcome;
    });
  }

  /** Completes a task whose pull request was merged. A closed task stays unchanged. @throws MusterError NOT_FOUND */
  finish(taskId: string, result: TaskResult): Promise<TaskOutcome> {
    return this.change(
      taskId,
      () => true,
      async (found, now) => {
        const taskOutcome = finishTask(found.value, result, now);
        if (taskOutcome.kind !== 'repeated') await this.commit(found, taskOutcome, now);
        return taskOutcome;
      },
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

  private change<Result>(
    taskId: string,
    mayIn: (workspace: string) => boolean,
    attempt: (task: Versioned<Task>, now: Date) => Promise<Result>,
  ): Promise<Result> {
    return retryOnConflict(this.ports.randomness, async () => {
      const found = await readUnreadable(mayIn, this.ports.tasks.find(taskId));
      if (found === undefined || !mayIn(found.value.workspace)) throw taskNotFound(taskId);
      return attempt(found, this.ports.clock.now());
    });
  }
}

/** Returns whether the caller has the role worker in a workspace. A task's workspace can differ from the call's. */
function workerIn(principal: Principal): (workspace: string) => boolean {
  return (workspace) => hasRole(roleIn(principal, workspace) ?? 'viewer', 'worker');
}
