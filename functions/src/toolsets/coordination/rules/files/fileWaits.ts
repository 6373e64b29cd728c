/** Follows the ends of reservations of files. Source: docs/semantics.md#files. */
import { z } from 'zod/mini';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { Service, skipUnreadable } from '../../../../kernel/ports.ts';
import { endWaits } from '../budgetWait.ts';
import type { CoordinationPorts } from '../ports.ts';
import { isHeld, TASK_STATUSES } from '../task.ts';
import { taskChanges } from '../taskChanges.ts';

const written = z.object({
  files_held: z.literal(true),
  status: z.enum(TASK_STATUSES),
  claimed_by: z.nullable(z.string()),
});

export class FileWaits extends Service<CoordinationPorts> {
  /**
   * Makes the tasks claimable that wait for files of a task that has just freed them. Reads nothing after other
   * changes. Safe to call repeatedly, late and out of order. @param before, after documents of the task
   */
  async taskWritten(taskId: string, before: unknown, after: unknown): Promise<void> {
    if (!written.safeParse(before).success) return;
    const { data: now } = written.safeParse(after);
    if (now === undefined) return endWaits(this.ports, 'files_wait', taskId);
    if (!isHeld(now.status) || now.claimed_by === null) await this.free(taskId);
  }

  /** Frees the files of a task that an instance of the last release, which knows of no files, has taken from its holder. */
  private free(taskId: string): Promise<void> {
    const { tasks, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(tasks.find(taskId));
      if (!found?.value.files_held || (isHeld(found.value.status) && found.value.claim)) return;
      await store.commit(taskChanges(found.value, found.value, found.version, clock.now()));
    });
  }
}
