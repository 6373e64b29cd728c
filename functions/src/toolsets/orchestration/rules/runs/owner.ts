/** Ends runs whose owner has left the workspace. The owner's role is checked before each step and on leaving. */
import type { LostAccess, LostAccessHandler } from '../../../../access/rules/leaving.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { Service } from '../../../../kernel/ports.ts';
import { processAll } from '../../../../kernel/sweep.ts';
import type { OwnerPorts } from '../../../coordination/index.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { cancelOpenRun } from './cancelling.ts';
import type { Run, RunEnding } from './run.ts';

/** Returns how a run ends if its owner lost access. @throws MusterError if the role is unreadable: retry the run */
export async function ownerEnding(
  { ownerRoles }: OwnerPorts,
  { owner_uid, workspace }: Run,
): Promise<RunEnding | undefined> {
  const standing = await ownerRoles.stateOf(owner_uid, workspace);
  if (standing === 'works') return undefined;
  if (standing === 'out')
    return { status: 'failed', failure: { reason: 'OWNER_LEFT', message: ownerLostAccess(workspace) } };
  throw new MusterError('FIREBASE_ERROR', "The role of the run's owner could not be read.", {
    reason: 'UNREADABLE_DOCUMENT',
    suggestion: 'The log event document_unreadable contains the path. The run is retried automatically.',
  });
}

/** Returns the failure message of a run whose owner has left the workspace. */
export function ownerLostAccess(workspace: string): string {
  return `The owner no longer has a worker role in the workspace "${workspace}". A member can start the run again if it is still needed.`;
}

// Ends the open runs of a person who leaves a workspace. Source: docs/semantics.md#leaving-a-workspace.

const BATCH = 100;

export class RunLostAccess extends Service<OrchestrationPorts> implements LostAccessHandler {
  /** Cancels a person's open runs in the workspaces that the person has left, and the tasks of these runs. */
  end(uid: string, { isOut }: LostAccess): Promise<number> {
    const read = (after?: string) => this.ports.runs.openOf(uid, BATCH, after);
    const isTheirs = (run: { readonly workspace: string }) => isOut(run.workspace);
    return processAll(read, isTheirs, ({ id, workspace }) => cancelOpenRun(this.ports, id, ownerLostAccess(workspace)));
  }
}
