/**
 * Tasks that have ended long ago are removed, with their logs and results. One stays as long as anything open refers to
 * it: a dependent that may be tried again, something that it is part of, or a part of its own.
 */
import { isPartOfOpenWork } from '../../../graph/rules/linking.ts';
import type { Change, Versioned } from '../../../kernel/commit.ts';
import type { Position } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { type RetentionDays, retentionPart, type SweepPart, walk } from '../../../kernel/sweep.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { taskNode } from './node.ts';
import type { CoordinationPorts } from './session.ts';
import type { Task } from './task.ts';

const BATCH = 100;

export class TaskRetention extends Service<CoordinationPorts & { readonly retention: RetentionDays }> {
  readonly part: SweepPart = retentionPart('tasks kept', this.ports.retention.tasks, async (before, turn) => {
    const counts = { removed: 0 };
    const old = (after: Position | undefined) => this.ports.tasks.closedBefore(before, BATCH, after);
    const end = await walk(turn, old, async ({ value: { id } }) => {
      const isGone = await this.remove(id, before);
      counts.removed += Number(isGone);
    });
    return { counts, ...end };
  });

  /** Never fails: one that cannot be removed must not keep the others. Tells whether it is gone. */
  private async remove(id: string, before: Date): Promise<boolean> {
    const { tasks, store, randomness, log } = this.ports;
    try {
      // Several that depend on each other go beside each other.
      return await retryStale(randomness, async () => {
        const task = await tasks.find(id);
        if (task?.value.closedAt === undefined || task.value.closedAt > before) return false;
        if (await this.isReferredTo(task.value)) return false;
        const changes = await this.removal(task);
        await tasks.forgetBelow(id);
        await store.commit(changes);
        return true;
      });
    } catch (error) {
      log.error('task_not_removed', { taskId: id, error });
      return false;
    }
  }

  /** What is done is never tried again. What failed may be, and would then be told that this one is missing. */
  private async isReferredTo(task: Task): Promise<boolean> {
    const dependents = await this.ports.tasks.findAll(task.dependents);
    if (dependents.some((one) => one !== undefined && one.value.status !== 'done')) return true;
    return isPartOfOpenWork(this.ports, { kind: 'task', id: task.id }, task);
  }

  private async removal({ value: task, version }: Versioned<Task>): Promise<Change[]> {
    const { tasks, sessions, clock } = this.ports;
    const { workspace, session, status } = task;
    const dependencies = await tasks.findAll(task.dependencies);
    // That it is removed is nothing that was done in the session.
    const { lastActivity = task.closedAt ?? clock.now() } = await sessions.counters(workspace, session);
    return [
      { kind: 'removeTask', task, node: taskNode(task), version },
      { kind: 'count', workspace, session, by: { [status]: -1 }, at: lastActivity },
      ...dependencies.flatMap((one): Change[] => {
        if (one === undefined || !one.value.dependents.includes(task.id)) return [];
        return [{ kind: 'removeDependent', taskId: one.value.id, dependentId: task.id }];
      }),
    ];
  }
}
