/** Ends the coding tasks of people who leave a workspace. Source: docs/semantics.md#what-leaving-ends. */
import type { LeavingEnd, Left } from '../../../access/rules/leaving.ts';
import { allOf } from '../../../kernel/allOf.ts';
import { Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { leavingChanges } from './ownerless.ts';
import type { CoordinationPorts } from './ports.ts';
import { isClosed } from './task.ts';

/** How many tasks are read at once. */
const BATCH = 100;

export class CodingLeaving extends Service<CoordinationPorts> implements LeavingEnd {
  /** Cancels their open coding tasks, whoever holds them. Tasks of the workspace's plan stay, whoever created them. */
  async end(uid: string, { isOut }: Left): Promise<number> {
    const read = (after?: string) => this.ports.tasks.openCodingOf(uid, BATCH, after);
    const isTheirs = (task: { readonly workspace: string }) => isOut(task.workspace);
    return allOf(read, isTheirs, ({ id }) => this.cancel(id, isOut));
  }

  private cancel(taskId: string, isOut: Left['isOut']): Promise<boolean> {
    const { tasks, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await unlessUnreadable(tasks.find(taskId));
      if (found === undefined || isClosed(found.value.status) || !isOut(found.value.workspace)) return false;
      await this.ports.store.commit(leavingChanges(found, clock.now()));
      return true;
    });
  }
}
