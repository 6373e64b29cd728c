/** Who somebody is once their call is over, without a credential. Source: docs/decisions/0033-asking-people.md. */
import { MusterError } from '../../kernel/errors.ts';
import { principalOf } from './agent.ts';
import type { Link, LinkSubject } from './credential.ts';
import { type Need, refusalFor } from './gate.ts';
import { commonLimits, type Limits } from './limits.ts';
import {
  ancestorsOf,
  grantLink,
  keyLink,
  lineageOf,
  type Opening,
  openedThrough,
  openingOf,
} from './lineage.ts';
import type { AccessPorts } from './ports.ts';
import type { Principal } from './principal.ts';

/** A caller, as it is remembered: who it was, and what its credential opened. */
export interface RememberedCaller {
  readonly uid: string;
  readonly agentId?: string | undefined;
  readonly ownerUid: string;
  readonly limits: Limits;
  /** The id of the grant of an app. */
  readonly grant?: string | undefined;
  /** The credentials through which it came in; absent for a person. */
  readonly lineage?: readonly Link[] | undefined;
}

type StandingPorts = Pick<AccessPorts, 'agents' | 'grants' | 'roles' | 'idTokens' | 'clock'>;

/**
 * The caller as it would come in now, within what it opened then, if a credential of it still opens what is needed.
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
  const limits = commonLimits(caller.limits, able);
  if (limits === undefined) throw gone();
  const principal: Principal = { ...able, ...limits };
  const refused = refusalFor(principal, workspace, need);
  if (refused !== undefined) throw refused;
  return principal;
}

async function asPerson(
  { idTokens, roles }: StandingPorts,
  { uid }: RememberedCaller,
): Promise<readonly Principal[]> {
  if (!(await idTokens.isGood(uid))) return [];
  return [{ uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: await roles.of(uid) }];
}

/** A credential of the agent, with what it was registered through. */
interface Own {
  readonly opens: Opening;
  readonly link: Link;
  readonly ancestors: readonly LinkSubject[];
}

/** The agent by the credential that it came in with, as long as that is good. */
async function asAgent(
  ports: StandingPorts,
  { ownerUid, grant: id, lineage }: RememberedCaller,
  agentId: string,
): Promise<readonly Principal[]> {
  const { agents, grants, roles, clock } = ports;
  const [known, credentials, grant] = await Promise.all([
    agents.find(agentId),
    agents.credentials(agentId),
    id === undefined ? undefined : grants.find(id),
  ]);
  if (known === undefined || known.value.owner_uid !== ownerUid) return [];
  const agent = known.value;
  const own: readonly Own[] = [
    ...(grant?.value.agent_id === agentId
      ? [{ opens: openingOf(grant.value, agent.role), link: grantLink(grant.value), ancestors: [] }]
      : []),
    ...credentials
      .filter((one) => one.grant === id)
      .map((one) => ({ opens: openingOf(one, agent.role), link: keyLink(one), ancestors: ancestorsOf(one) })),
  ];
  const now = clock.now();
  const remembered = lineage?.at(-1)?.subject;
  const good = own.filter(({ opens, link }) => opens.endsAt > now && link.subject === remembered);
  const owner = await roles.of(ownerUid);
  const of = id === undefined ? undefined : { id };
  const principals = await Promise.all(
    good.map(async ({ opens, link, ancestors }) => {
      const opened = await openedThrough(ports, opens, ancestors, now);
      if (opened === undefined) return [];
      return principalOf(agent, owner, opened.opens, { grant: of, lineage: lineageOf(opened, link) });
    }),
  );
  return principals.flat();
}

function gone(): MusterError {
  return new MusterError('FORBIDDEN', 'Whoever has asked may not call any more.', {
    reason: 'RIGHTS_GONE',
    suggestion: 'Its agent, its credential or its account was taken away since it asked.',
  });
}
