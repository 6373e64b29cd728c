/** Ends the runs of people who leave a workspace. Source: docs/semantics.md#what-leaving-ends. */
import type { LeavingEnd, Left } from '../../../../access/rules/leaving.ts';
import { allOf } from '../../../../kernel/allOf.ts';
import { Service, unlessUnreadable } from '../../../../kernel/ports.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { cancellationOf } from './cancelling.ts';
import { ownerLeft } from './owner.ts';
import { isEnded } from './run.ts';

/** How many runs are read at once. */
const BATCH = 100;

export class RunLeaving extends Service<OrchestrationPorts> implements LeavingEnd {
  /** Cancels their open runs, and the tasks that these wait for with them. */
  end(uid: string, { isOut }: Left): Promise<number> {
    const read = (after?: string) => this.ports.runs.openOf(uid, BATCH, after);
    const isTheirs = (run: { readonly workspace: string }) => isOut(run.workspace);
    return allOf(read, isTheirs, ({ id }) => this.cancel(id, isOut));
  }

  private cancel(runId: string, isOut: Left['isOut']): Promise<boolean> {
    const { runs, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await unlessUnreadable(runs.find(runId));
      if (found === undefined || isEnded(found.value) || found.value.cancelRequested) return false;
      if (!isOut(found.value.workspace)) return false;
      const { changes } = await cancellationOf(this.ports, found, ownerLeft(found.value.workspace));
      await store.commit(changes);
      return true;
    });
  }
}
