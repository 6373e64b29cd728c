/** Requirements that callers set, with the person who must confirm a result. Source: docs/guides/proof.md. */
import { foldedEmail } from '../../../../access/rules/invitations.ts';
import type { Requirements } from '../../../../access/rules/proofSettings.ts';
import { hasRoleIn, type Principal, personsRoleIn } from '../../../../identity/rules/principal.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import type { CoordinationPorts } from '../ports.ts';
import type { Task } from '../task.ts';

/** Returns the requirements with the uid of the person who confirms. @throws MusterError NOT_FOUND without a role here */
export async function withPerson<Wanted extends Requirements | undefined>(
  { idTokens, roles }: Pick<CoordinationPorts, 'idTokens' | 'roles'>,
  workspace: string,
  wanted: Wanted,
  field: string,
): Promise<Wanted> {
  const named = wanted?.confirm;
  if (named === undefined || named === 'owner') return wanted;
  const uid = named.includes('@') ? await idTokens.uidOf(foldedEmail(named)) : named;
  if (uid !== undefined && personsRoleIn(await roles.of(uid), workspace) !== undefined)
    return { ...wanted, confirm: uid };
  throw new MusterError('NOT_FOUND', `"${named}" is not a person in the workspace "${workspace}".`, {
    field: `${field}.confirm`,
    value: named,
    suggestion: 'access.list_members lists the members of the workspace. owner is the owner of the task.',
  });
}

/** Checks that a caller did not work on the task. @throws MusterError FORBIDDEN */
export function requireNoAuthor({ id, authors, claim }: Task, { agent_id, uid }: Principal): void {
  const own = [agent_id, uid].filter((one) => one !== undefined);
  const worked = [...authors.flatMap((one) => [one.agent_id, one.uid]), ...(claim ? [claim.claimed_by] : [])];
  if (!own.some((one) => worked.includes(one))) return;
  throw new MusterError(
    'FORBIDDEN',
    `You cannot change the acceptance of task "${id}": you or your credential did the work.`,
    { field: 'acceptance', reason: 'OWN_WORK', suggestion: 'Ask its creator or a leader of the workspace.' },
  );
}

/** Checks that a caller may take a result as it is: a person, or a leading agent. @throws MusterError FORBIDDEN */
export function requireWaiver(principal: Principal, { id, workspace }: Pick<Task, 'id' | 'workspace'>): void {
  if (principal.kind === 'person' || hasRoleIn(principal, workspace, 'leader')) return;
  throw cannotWaive(`of task "${id}"`);
}

/** Returns the error for a caller that demands less than the workspace does. */
export function cannotWaive(what: string): MusterError {
  return new MusterError('FORBIDDEN', `Only people and leaders can waive the acceptance ${what}.`, {
    field: 'acceptance',
    reason: 'ROLE_TOO_WEAK',
    suggestion: 'Omit acceptance, or ask a leader of the workspace.',
  });
}
