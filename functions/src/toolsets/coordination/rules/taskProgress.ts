/**
 * Working on a claimed task: start, complete, fail. Each is one optimistic commit of the task, its holder and
 * the session's counters. Source: the coordination specification, "Worker Tools"; docs/semantics.md#coordination.
 */

import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { CallRecord, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MAX_REPORT_BYTES, requireSize } from '../../../kernel/json.ts';
import { readIn, Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
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

/** Of an answer, what the tasks of one state of the queue may take: two of them may have to share it. */
export const STATE_SHARE = 0.5;

export class TaskQueue extends Service<CoordinationPorts> {
  /** Starting again what the same claim has started changes nothing. */
  start(
    principal: Principal,
    taskId: string,
    claimant: Claimant,
    recordAnswer: RecordAnswer<Task>,
  ): Promise<Task> {
    return this.change(taskId, workerIn(principal), async ({ value: before, version }, now) => {
      const task = startTask(before, claimant, now);
      const changes = task === before ? [] : taskChanges(before, task, version, now);
      await this.ports.store.commit(changes, recordAnswer(task));
      return task;
    });
  }

  /** Closes the task and frees or blocks its dependents. @throws MusterError NOT_FOUND; CONFLICT with the task's state and holder */
  async reportOutcome(
    principal: Principal,
    taskId: string,
    { claimant, outcome }: { readonly claimant: Claimant; readonly outcome: ReportedOutcome },
    recordAnswer: RecordAnswer<TaskOutcome>,
  ): Promise<TaskOutcome> {
    requireSize('A report', outcome.kind === 'done' ? 'output' : 'error', outcome, MAX_REPORT_BYTES);
    return this.change(taskId, workerIn(principal), async (found, now) => {
      const taskOutcome = reportOutcome(found.value, claimant, outcome, now);
      await this.commit(found, taskOutcome, now, recordAnswer(taskOutcome));
      return taskOutcome;
    });
  }

  /** Closes a task for its holder, whose pull request was merged. A closed one stays as it is. @throws MusterError NOT_FOUND */
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
   * Looks at a task again that waits for its parts, since one of them has changed: completes it where they are done,
   * or notes which of them never will be. Safe to be told twice, late and out of order: it goes by what is there.
   */
  partsChanged(taskId: string): Promise<void> {
    const { tasks, graph, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await unlessUnreadable(tasks.find(taskId));
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
    return retryStale(this.ports.randomness, async () => {
      const found = await readIn(mayIn, this.ports.tasks.find(taskId));
      if (found === undefined || !mayIn(found.value.workspace)) throw taskNotFound(taskId);
      return attempt(found, this.ports.clock.now());
    });
  }
}

/** Whether a caller works in the workspace of a task, whichever that of the call is. */
function workerIn(principal: Principal): (workspace: string) => boolean {
  return (workspace) => hasRole(roleIn(principal, workspace) ?? 'viewer', 'worker');
}
