/**
 * Tasks that can never start, because a task that they depend on, however far away, failed or was cancelled. The commit
 * that ends a task marks those that depend on it; each of them then tells its own dependents in a commit of its own, and
 * so on. Until then it says that it is not settled, so that what an instance has left that died is found and gone on with.
 * The same way the marks go again. Source: docs/semantics.md#what-can-never-start.
 */

import { StaleWriteError } from '../../../kernel/commit.ts';
import { Service, unlessUnreadable } from '../../../kernel/ports.ts';
import type { SweepPart, SweepTurn, Swept } from '../../../kernel/sweep.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import type { Task } from './task.ts';

/** How many tasks the sweep settles at a time. */
const BATCH = 50;

/** The task that another can never start for: the one that its dependents know of while it is one of several. */
export function stuckBy({
  failed_dependencies,
  stuck_dependencies,
  stuck_by: told,
}: Task): string | undefined {
  const causes = [...failed_dependencies, ...Object.values(stuck_dependencies)];
  return told !== undefined && causes.includes(told) ? told : causes[0];
}

/** Why a task will never start, in a sentence; undefined where it may. */
export function stuckReason(task: Task): string | undefined {
  const by = task.status === 'available' ? stuckBy(task) : undefined;
  if (by === undefined) return undefined;
  return `Will never start: task "${by}" failed or was cancelled. coordination.retry_task has it tried again, and with_dependents those that ended after it.`;
}

/** Whether a task as it was written says that its dependents are to be told something. */
export function isUnsettled(task: unknown): boolean {
  return (
    typeof task === 'object' && task !== null && 'stuck_unsettled' in task && task.stuck_unsettled === true
  );
}

export class StuckTasks extends Service<CoordinationPorts> {
  readonly part: SweepPart = { name: 'stuck', run: (turn) => this.sweep(turn) };

  /** Tells the dependents of a task whether it can never start, if they do not know. Harmless twice and late. */
  settle(taskId: string): Promise<void> {
    const { tasks, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      // What becomes readable again is written, and so comes here again.
      const found = await unlessUnreadable(tasks.find(taskId));
      if (found?.value.stuck_unsettled) await store.commit(settlingChanges(found.value, found.version));
    });
  }

  /** What is settled may leave others unsettled: it walks again as long as that changes something. */
  private async sweep(turn: SweepTurn): Promise<Swept> {
    const counts = { settled: 0 };
    for (;;) {
      const { settled, left } = await this.settleAll(turn);
      counts.settled += settled;
      if (turn.isOver() || settled === 0) return { counts, isBehind: left };
    }
  }

  /** Walks once over all, past those that cannot be settled. */
  private async settleAll(turn: SweepTurn): Promise<{ settled: number; left: boolean }> {
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
          // Another call has just changed it: the next walk decides.
          if (!(error instanceof StaleWriteError))
            log.error('stuck_not_settled', { taskId: value.id, error });
        }
      }
      if (unsettled.length < BATCH) return { settled, left };
    }
  }
}

/** The task as its dependents know it from now on, and what they are told. */
function settlingChanges(before: Task, version: string): CoordinationChange[] {
  const { stuck_by: told, ...rest } = before;
  const by = before.status === 'done' ? undefined : stuckBy(before);
  const stuck = by !== undefined;
  const task: Task = { ...rest, stuck, stuck_unsettled: false, ...(stuck && { stuck_by: by }) };
  const marks = before.dependents.map((taskId): CoordinationChange => {
    return { kind: 'dependencyStuck', taskId, dependencyId: before.id, ...(stuck && { by }) };
  });
  return [{ kind: 'replaceTask', task, before, version }, ...(told === by ? [] : marks)];
}
