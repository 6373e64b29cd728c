/**
 * Who somebody is now, without their credential: for what is done as them after their call is over. It goes by what
 * authentication goes by. Source: docs/decisions/0033-asking-people.md.
 */
import { MusterError } from '../../kernel/errors.ts';
import { principalOf } from './agent.ts';
import { type Need, refusalFor } from './gate.ts';
import type { Limits } from './limits.ts';
import type { AccessPorts, Principal } from './principal.ts';

/** A caller, as it is remembered: who it was, and what its credential opened. */
export interface RememberedCaller {
  readonly uid: string;
  readonly agentId?: string | undefined;
  readonly ownerUid: string;
  readonly limits: Limits;
  /** The id of the grant of an app. */
  readonly grant?: string | undefined;
}

type StandingPorts = Pick<AccessPorts, 'agents' | 'grants' | 'roles' | 'idTokens' | 'clock'>;

/**
 * The caller as it would come in now: with its own role and its owner's of this moment, within what its credential
 * opened then, and as long as some credential of it still opens what is needed.
 * @throws MusterError FORBIDDEN where it may not any more
 */
export async function standingOf(
  ports: StandingPorts,
  caller: RememberedCaller,
  workspace: string,
  need: Need,
): Promise<Principal> {
  const principals =
    caller.agentId === undefined
      ? await asPerson(ports, caller)
      : await asAgent(ports, caller, caller.agentId);
  const [first] = principals;
  if (first === undefined) throw gone();
  const able = principals.find((principal) => refusalFor(principal, workspace, need) === undefined);
  if (able === undefined) throw refusalFor(first, workspace, need) ?? gone();
  const { toolsets, heldTo, readonly } = caller.limits;
  const principal: Principal = {
    ...able,
    ...(toolsets && { toolsets }),
    ...(heldTo !== undefined && { heldTo }),
    ...(readonly && { readonly }),
  };
  const refused = refusalFor(principal, workspace, need);
  if (refused !== undefined) throw refused;
  return principal;
}

async function asPerson(
  { idTokens, roles }: StandingPorts,
  { uid }: RememberedCaller,
): Promise<readonly Principal[]> {
  if (!(await idTokens.isGood(uid))) return [];
  return [{ uid, kind: 'person', ownerUid: uid, maxRole: 'admin', owner: await roles.of(uid) }];
}

/** The agent by each of its credentials that is still good. */
async function asAgent(
  { agents, grants, roles, clock }: StandingPorts,
  { ownerUid, grant: id }: RememberedCaller,
  agentId: string,
): Promise<readonly Principal[]> {
  const [known, credentials, grant] = await Promise.all([
    agents.find(agentId),
    agents.credentials(agentId),
    id === undefined ? undefined : grants.find(id),
  ]);
  if (known === undefined || known.value.ownerUid !== ownerUid) return [];
  const now = clock.now();
  if (id !== undefined && (grant === undefined || grant.value.expiresAt <= now)) return [];
  const keys = credentials.filter((one) => one.expiresAt > now && one.grant === id);
  const opened: readonly Limits[] = grant?.value.agentId === agentId ? [grant.value, ...keys] : keys;
  const owner = await roles.of(ownerUid);
  const of = id === undefined ? undefined : { id };
  return opened.map((limits) => principalOf(known.value, owner, limits, of));
}

function gone(): MusterError {
  return new MusterError('FORBIDDEN', 'Whoever has asked may not call any more.', {
    reason: 'RIGHTS_GONE',
    suggestion: 'Its agent, its credential or its account was taken away since it asked.',
  });
}
