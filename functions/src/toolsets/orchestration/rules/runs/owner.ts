/** What a run may still do for its owner, whose role in its workspace is checked before each step. */
import { MusterError } from '../../../../kernel/errors.ts';
import type { OwnerPorts } from '../../../coordination/index.ts';
import type { Ending, Run } from './run.ts';

/**
 * Returns how the run ends if its owner may not have work done in its workspace any more.
 * @throws MusterError if what is stored of the owner cannot be read: the run is tried again later
 */
export async function ownerEnding(
  { ownerRoles }: OwnerPorts,
  { ownerUid, workspace }: Run,
): Promise<Ending | undefined> {
  const standing = await ownerRoles.standing(ownerUid, workspace);
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
