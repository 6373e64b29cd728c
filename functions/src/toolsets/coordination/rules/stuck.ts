/**
 * Stuck tasks. A task is stuck if a direct or indirect dependency failed or was cancelled. The commit that ends a
 * task marks its direct dependents. Each dependent then marks its own dependents in a separate commit, and so on. A
 * task that has not yet marked its dependents is unsettled. If an instance crashes, the sweep settles such tasks.
 * Marks are removed in the same way. Source: docs/semantics.md#stuck-tasks.
 */
import { StaleWriteError } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { Service, skipUnreadable } from '../../../kernel/ports.ts';
import type { SweepContext, SweepJob, SweepReport } from '../../../kernel/sweep.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import type { Task } from './task.ts';

const BATCH = 50;

/** Returns the task that makes a task stuck. If there are several, prefers the one that dependents already store. */
export function stuckBy({ failed_dependencies, stuck_dependencies, stuck_by: stored }: Task): string | undefined {
  const causes = [...failed_dependencies, ...Object.values(stuck_dependencies)];
  return stored !== undefined && causes.includes(stored) ? stored : causes[0];
}

/** Returns a sentence about why a task can never start, or undefined if the task can start. */
export function stuckReason(task: Task): string | undefined {
  const by = task.status === 'available' ? stuckBy(task) : undefined;
  if (by === undefined) return undefined;
  return `Can never start, because task "${by}" failed or was cancelled. Retry that task with coordination.retry_task; with_dependents also retries its failed or cancelled dependents.`;
}

/** Returns whether the dependents of a written task must be updated. */
export function isUnsettled(task: unknown): boolean {
  return typeof task === 'object' && task !== null && 'stuck_unsettled' in task && task.stuck_unsettled === true;
}

export class StuckTasks extends Service<CoordinationPorts> {
  readonly sweepJob: SweepJob = { name: 'stuck', run: (turn) => this.sweep(turn) };

  /** Updates the dependents of an unsettled task. Calls can be repeated, and their order does not matter. */
  settle(taskId: string): Promise<void> {
    const { tasks, store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      // Skips an unreadable task. When it is repaired, the write triggers this function again.
      const found = await skipUnreadable(tasks.find(taskId));
      if (found?.value.stuck_unsettled) await store.commit(settlingChanges(found.value, found.version));
    });
  }

  /** Repeats the pass until nothing changes, because settling a task can make other tasks unsettled. */
  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const counts = { settled: 0 };
    for (;;) {
      const { settled, left } = await this.settleAll(turn);
      counts.settled += settled;
      if (turn.isOver() || settled === 0) return { counts, isBehind: left };
    }
  }

  /** Settles each unsettled task once, and skips those that cannot be settled. */
  private async settleAll(turn: SweepContext): Promise<{ settled: number; left: boolean }> {
    const { tasks, store, log } = this.ports;
    let [settled, left] = [0, false];
    let after: string | undefined;
    for (;;) {
      const unsettled = await tasks.unsettled(BATCH, after);
      for (const { value, version } of unsettled) {
        if (turn.isOver()) return { settled, left: true };
        after = value.id;
        try {
          await store.commit(settlingChanges(value, version));
          settled++;
        } catch (error) {
          left = true;
          // Another call changed the task after it was read, so the next pass settles it.
          if (!(error instanceof StaleWriteError)) log.error('stuck_not_settled', { taskId: value.id, error });
        }
      }
      if (unsettled.length < BATCH) return { settled, left };
    }
  }
}

/** Returns the changes that settle a task: the change of the task, and the marks of its dependents. */
function settlingChanges(before: Task, version: string): CoordinationChange[] {
  const { stuck_by: previous, ...rest } = before;
  const by = before.status === 'done' ? undefined : stuckBy(before);
  const stuck = by !== undefined;
  const task: Task = { ...rest, stuck, stuck_unsettled: false, ...(stuck && { stuck_by: by }) };
  const marks = before.dependents.map((taskId): CoordinationChange => {
    return { kind: 'dependencyStuck', taskId, dependencyId: before.id, ...(stuck && { by }) };
  });
  return [{ kind: 'replaceTask', task, before, version }, ...(previous === by ? [] : marks)];
}
