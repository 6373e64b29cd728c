/** An app that somebody has signed in from is an agent of theirs. Source: docs/decisions/0032-signing-in.md. */
import {
  type Agent,
  countedAgent,
  homeOf,
  requireFewWorkspaces,
  skillChanges,
  USUAL_CONFIGURATION,
} from '../../access/rules/agent.ts';
import {
  CODE_MILLISECONDS,
  GRANT_LETTERS,
  type Grant,
  MAX_GRANTS,
  MOST_MILLISECONDS,
  tokenOf,
} from '../../access/rules/grant.ts';
import type { Limits } from '../../access/rules/limits.ts';
import {
  type AccessPorts,
  DEFAULT_WORKSPACE,
  hasRole,
  ownRole,
  type PersonRoles,
  personsRoleIn,
  roleIn,
} from '../../access/rules/principal.ts';
import { type AgentRegistration, keptOf } from '../../access/rules/registration.ts';
import type { Change, Versioned } from '../../kernel/commit.ts';
import { Service } from '../../kernel/ports.ts';
import type { Authorization } from './authorization.ts';
import { type Decision, Hindered } from './choices.ts';
import { personOf } from './tokens.ts';

interface Chosen extends Omit<Decision, 'toolsets'> {
  readonly toolsets: readonly string[] | undefined;
}

/** One whose person has signed in. */
type Signed = Authorization & { readonly person: NonNullable<Authorization['person']> };

const SECRET_BYTES = 32;

export class Apps extends Service<AccessPorts & { readonly registration: Pick<AgentRegistration, 'find'> }> {
  /**
   * Makes the app an agent of its person, or renews it, with a grant that its code opens. What is chosen holds for
   * every place where the person has signed in as this agent: the last choice is the one that counts.
   * @param ended the end of the sign-in, which is committed with it
   * @returns the code
   * @throws Hindered; StaleWriteError
   */
  async connect(authorization: Signed, chosen: Chosen, owner: PersonRoles, ended: Change): Promise<string> {
    const { agents, grants, store, clock, randomness, registration } = this.ports;
    const { uid } = authorization.person;
    const { id, known } = await registration.find(uid, chosen.agentName);
    const [keys, others] = await Promise.all([agents.credentials(id), grants.ofAgents([id])]);
    if (keys.length > 0 || (known !== undefined && known.value.ownerUid !== uid))
      throw new Hindered('name_taken');
    const limits = limitsOf(uid, owner, chosen);
    const now = clock.now();
    const agent = agentOf(id, uid, owner, chosen, known?.value, now);
    requireFewWorkspaces(known?.value, agent);
    const secret = randomness.secret(SECRET_BYTES);
    const grant = this.newGrant(authorization, id, limits, secret, now);
    await store.commit([
      known === undefined
        ? { kind: 'createAgent', agent }
        : { kind: 'replaceAgent', agent, version: known.version },
      ...countedAgent(known?.value, agent),
      ...skillChanges(known?.value, agent),
      ...renewed(others, limits, now),
      { kind: 'createGrant', grant },
      ended,
    ]);
    return tokenOf('code', { grantId: grant.id, secret });
  }

  private newGrant(authorization: Signed, agentId: string, limits: Limits, secret: string, now: Date): Grant {
    const { randomness, hashing } = this.ports;
    const { person, clientId, clientName, clientHost, resource, redirectUri, challenge } = authorization;
    const codeExpiresAt = new Date(now.getTime() + CODE_MILLISECONDS);
    return {
      id: randomness.letters(GRANT_LETTERS),
      ownerUid: person.uid,
      agentId,
      clientId,
      clientName,
      ...(clientHost !== undefined && { clientHost }),
      resource,
      ...limits,
      createdAt: now,
      usedAt: now,
      // Until its code is redeemed it is worth no more than that.
      expiresAt: codeExpiresAt,
      endsAt: new Date(now.getTime() + MOST_MILLISECONDS),
      salt: randomness.secret(SECRET_BYTES),
      code: {
        hash: hashing.sha256(secret),
        challenge,
        redirectUri,
        expiresAt: codeExpiresAt,
        isRedeemed: false,
      },
      rotated: 0,
      recentRotations: [],
      accessTokens: [],
    };
  }
}

/** @throws Hindered for more than the person has */
function limitsOf(uid: string, owner: PersonRoles, { workspace, role, toolsets, readonly }: Chosen): Limits {
  const limits: Limits = {
    ...(toolsets && { toolsets }),
    ...(workspace !== undefined && { heldTo: workspace }),
    ...(readonly && { readonly: true }),
  };
  const person = personOf(uid, owner);
  const most = workspace === undefined ? ownRole(person) : roleIn(person, workspace);
  // A role that is weaker in the one workspace bounds what the agent can do there anyway.
  const own = most && ownRole(person);
  if (own === undefined || !hasRole(own, role)) throw new Hindered('not_allowed');
  return limits;
}

/** What is chosen now, at the other places too; the one that was used the longest ago makes room. */
function renewed(others: readonly Versioned<Grant>[], limits: Limits, now: Date): Change[] {
  const open = others.filter(({ value }) => value.expiresAt > now);
  const latest = [...open].sort((one, other) => other.value.usedAt.getTime() - one.value.usedAt.getTime());
  const kept = latest.slice(0, MAX_GRANTS - 1);
  return others.flatMap((one): Change[] => {
    const { value, version } = one;
    if (!kept.includes(one)) return [{ kind: 'endGrant', id: value.id }];
    const { toolsets: _toolsets, heldTo: _heldTo, readonly: _readonly, ...rest } = value;
    return [{ kind: 'replaceGrant', grant: { ...rest, ...limits }, version }];
  });
}

function agentOf(
  id: string,
  ownerUid: string,
  owner: PersonRoles,
  { agentName: name, role, workspace }: Chosen,
  before: Agent | undefined,
  now: Date,
): Agent {
  const home = workspace ?? usualHome(owner, before);
  return {
    type: 'developer',
    version: '1.0.0',
    capabilities: [],
    configuration: USUAL_CONFIGURATION,
    ...before,
    ...keptOf(before, now),
    ...(before?.description !== undefined && { description: before.description }),
    ...(before?.creator !== undefined && { creator: before.creator }),
    id,
    name,
    ownerUid,
    role,
    ...(home !== DEFAULT_WORKSPACE && { workspace: home }),
  };
}

/** Where the calls go that name no workspace: to one in which they can do something. */
function usualHome(owner: PersonRoles, before: Agent | undefined): string {
  const isTheirs = (workspace: string): boolean => personsRoleIn(owner, workspace) !== undefined;
  const known = [
    ...(before ? [homeOf(before)] : []),
    DEFAULT_WORKSPACE,
    ...Object.keys(owner.workspaces).sort(),
  ];
  return known.find(isTheirs) ?? DEFAULT_WORKSPACE;
}
