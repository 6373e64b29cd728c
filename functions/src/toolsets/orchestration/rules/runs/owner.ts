/** What a run may still do for its owner, whose role in its workspace is checked before each step. */

import type { LeavingEnd, Left } from '../../../../access/rules/leaving.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { allOf } from '../../../../kernel/paging.ts';
import { Service, unlessUnreadable } from '../../../../kernel/ports.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import type { OwnerPorts } from '../../../coordination/index.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { cancellationOf } from './cancelling.ts';
import { type Ending, isEnded, type Run } from './run.ts';

/** How the run ends if its owner may not work there any more. @throws MusterError if the owner cannot be read: tried again */
export async function ownerEnding(
  { ownerRoles }: OwnerPorts,
  { owner_uid, workspace }: Run,
): Promise<Ending | undefined> {
  const standing = await ownerRoles.standing(owner_uid, workspace);
  if (standing === 'works') return undefined;
  if (standing === 'out')
    return { status: 'failed', failure: { reason: OWNER_LEFT, message: ownerLeft(workspace) } };
  throw new MusterError('FIREBASE_ERROR', 'The role of the owner of the run cannot be read.', {
    reason: 'UNREADABLE_DOCUMENT',
    suggestion: 'The log names the document, at document_unreadable. The run is tried again.',
  });
}

const OWNER_LEFT = 'OWNER_LEFT';

/** The reason that is shown with a run whose owner has left its workspace. */
export function ownerLeft(workspace: string): string {
  return `Its owner has no role as a worker in the workspace "${workspace}" any more. A member starts it again if it is still wanted.`;
}

// Ends the runs of people who leave a workspace. Source: docs/semantics.md#what-leaving-ends.

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
      if (found === undefined || isEnded(found.value) || found.value.cancel_requested) return false;
      if (!isOut(found.value.workspace)) return false;
      await store.commit((await cancellationOf(this.ports, found, ownerLeft(found.value.workspace))).changes);
      return true;
    });
  }
}
