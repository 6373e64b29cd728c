/**
 * Working on a claimed task: start, complete, fail. Each is one optimistic commit of the task, its holder and
 * the session's counters. Source: spec/coordination.md, "Worker Tools"; docs/semantics.md#coordination.
 */
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MAX_REPORT_BYTES, requireSize } from '../../../kernel/json.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import {
  type Claimant,
  finishTask,
  type ReportedOutcome,
  reportOutcome,
  startTask,
  type TaskOutcome,
} from './machine.ts';
import type { CoordinationPorts } from './session.ts';
import { outcomeChanges, type Task, type TaskResult, taskChanges, taskNotFound } from './task.ts';

export class TaskQueue {
  private readonly ports: CoordinationPorts;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
  }

  /** Starting again what the same claim has started changes nothing. */
  start(taskId: string, claimant: Claimant, recordAnswer: RecordAnswer<Task>): Promise<Task> {
    return this.change(taskId, async ({ value: before, version }, now) => {
      const task = startTask(before, claimant, now);
      const changes = task === before ? [] : taskChanges(before, task, version, now);
      await this.ports.store.commit(changes, recordAnswer(task));
      return task;
    });
  }

  /**
   * Reports an outcome: closes the task and frees or blocks its dependents.
   * @throws MusterError NOT_FOUND, or CONFLICT naming the task's state and holder
   */
  async reportOutcome(
    taskId: string,
    claimant: Claimant,
    outcome: ReportedOutcome,
    recordAnswer: RecordAnswer<TaskOutcome>,
  ): Promise<TaskOutcome> {
    requireSize('A report', outcome.kind === 'done' ? 'output' : 'error', outcome, MAX_REPORT_BYTES);
    return this.change(taskId, async ({ value: before, version }, now) => {
      const taskOutcome = reportOutcome(before, claimant, outcome, now);
      const changes =
        taskOutcome.kind === 'repeated' ? [] : outcomeChanges(before, taskOutcome, version, now);
      if (taskOutcome.task.status === 'done' && before.dependents.length > 0) {
        changes.push(...(await this.queueGrowth(before)));
      }
      await this.ports.store.commit(changes, recordAnswer(taskOutcome));
      return taskOutcome;
    });
  }

  /** Tells the windows that dependents may have become claimable, unless their session is archived. */
  private async queueGrowth({ workspace, session }: Task): Promise<Change[]> {
    const open = await this.ports.sessions.current(workspace);
    return open?.session.id === session
      ? [{ kind: 'queueGrew', workspace, session, capabilityKeys: [] }]
      : [];
  }

  private change<Result>(
    taskId: string,
    attempt: (task: Versioned<Task>, now: Date) => Promise<Result>,
  ): Promise<Result> {
    return retryStale(this.ports.randomness, async () => {
      const found = await this.ports.tasks.find(taskId);
      if (found === undefined) throw taskNotFound(taskId);
      return attempt(found, this.ports.clock.now());
    });
  }
}

// Closing a task whose result is there although nobody reports it: its pull request was merged.

export class TaskFinishing {
  private readonly ports: CoordinationPorts;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
  }

  /**
   * Closes the task as done for whoever holds it, if anybody does. A closed one stays as it is.
   * @throws MusterError NOT_FOUND
   */
  finish(taskId: string, result: TaskResult): Promise<TaskOutcome> {
    const { tasks, sessions, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await tasks.find(taskId);
      if (found === undefined) throw taskNotFound(taskId);
      const { value: before, version } = found;
      const now = clock.now();
      const taskOutcome = finishTask(before, result, now);
      if (taskOutcome.kind === 'repeated') return taskOutcome;
      const changes = outcomeChanges(before, taskOutcome, version, now);
      const { workspace, session, dependents } = before;
      const open = dependents.length === 0 ? undefined : await sessions.current(workspace);
      if (open?.session.id === session) {
        changes.push({ kind: 'queueGrew', workspace, session, capabilityKeys: [] });
      }
      await store.commit(changes);
      return taskOutcome;
    });
  }
}
