/** Connected apps. Each becomes an agent of the person who connects it. Source: docs/decisions/0032-signing-in.md. */
import type { AccessPorts } from '../../access/rules/ports.ts';
import {
  type Agent,
  countedAgent,
  DEFAULT_CONFIGURATION,
  homeWorkspaceOf,
  NO_METRICS,
  requireWorkspaceLimit,
  skillChanges,
} from '../../agents/rules/agent.ts';
import type { AgentRegistration } from '../../agents/rules/registration.ts';
import { type Limits, limitsOf } from '../../identity/rules/credential.ts';
import * as grantRules from '../../identity/rules/grant.ts';
import { DEFAULT_WORKSPACE, ownRole, type PersonRoles, personsRoleIn, roleIn } from '../../identity/rules/principal.ts';
import { hasRole } from '../../identity/rules/role.ts';
import type { Store, Versioned } from '../../kernel/commit.ts';
import { Service } from '../../kernel/ports.ts';
import type { Authorization } from './authorization.ts';
import { type Decision, SignInError } from './choices.ts';
import type { SignInChange } from './clients.ts';
import { personOf } from './tokens.ts';

interface ChosenAccess extends Omit<Decision, 'toolsets'> {
  readonly toolsets: readonly string[] | undefined;
}

type App = Pick<Authorization, 'client_id' | 'resource'>;
type SignedAuthorization = Authorization & { readonly person: NonNullable<Authorization['person']> };

const SECRET_BYTES = 32;

/** Highest number that is appended to the name of a new agent. */
const MAX_AGENT_NAMES = 10;

/** Fields of the agent of an app that is connected for the first time. */
const NEW_APP = {
  ...NO_METRICS,
  type: 'developer',
  version: '1.0.0',
  capability_details: [],
  configuration: DEFAULT_CONFIGURATION,
  status: 'offline',
} as const satisfies Partial<Agent>;

export class Apps extends Service<
  AccessPorts & { readonly store: Store<SignInChange>; readonly registration: Pick<AgentRegistration, 'find'> }
> {
  /**
   * Creates or renews the app's agent with a new grant, and returns the grant's code. The choices of the latest
   * connection apply to all connections of this agent.
   * @param ended change that ends the sign-in, in the same commit
   * @throws Hindered; StaleWriteError
   */
  async connect(
    authorization: SignedAuthorization,
    chosen: ChosenAccess,
    owner: PersonRoles,
    ended: SignInChange,
  ): Promise<string> {
    const { store, clock, randomness } = this.ports;
    const { uid } = authorization.person;
    const { id, known, others, isFree } = await this.findApp(uid, chosen.agentName, authorization);
    if (!isFree) throw new SignInError('name_taken');
    const limits = chosenLimits(uid, owner, chosen);
    const now = clock.now();
    const agent = agentOf(id, { uid, roles: owner }, chosen, { before: known?.value, now });
    requireWorkspaceLimit(known?.value, agent);
    const secret = randomness.secret(SECRET_BYTES);
    const grant = this.newGrant(authorization, { agentId: id, limits, secret }, now);
    await store.commit([
      known === undefined ? { kind: 'createAgent', agent } : { kind: 'replaceAgent', agent, version: known.version },
      ...countedAgent(known?.value, agent),
      ...skillChanges(known?.value, agent),
      ...renewed(others, limits, now),
      { kind: 'createGrant', grant },
      ended,
    ]);
    return grantRules.tokenOf('code', { grantId: grant.id, secret });
  }

  /** Returns a name for the app's agent: the requested name or, if another agent has it, the name with a number. */
  async availableName(uid: string, wished: string, app: App): Promise<string> {
    for (let number = 2, name = wished; number <= MAX_AGENT_NAMES; number++) {
      if ((await this.findApp(uid, name, app)).isFree) return name;
      name = `${wished} ${number}`;
    }
    return wished;
  }

  /**
   * Returns the person's agent with a name. Throws if the agent belongs to another app or has an API key, because
   * consent for one app must not apply to another one. The same app at another address counts as another app.
   */
  private async findApp(uid: string, name: string, { client_id, resource }: App) {
    const { agents, grants, clock, registration } = this.ports;
    const { id, known } = await registration.find(uid, name);
    const [keys, all] = await Promise.all([agents.credentials(id), grants.ofAgents([id])]);
    const now = clock.now();
    const belongsToAnother = all.some(
      ({ value }) => (value.client_id !== client_id || value.resource !== resource) && value.expires_at > now,
    );
    const isTheirs = known === undefined || known.value.owner_uid === uid;
    return { id, known, others: all, isFree: isTheirs && keys.length === 0 && !belongsToAnother };
  }

  private newGrant(
    authorization: SignedAuthorization,
    given: { readonly agentId: string; readonly limits: Limits; readonly secret: string },
    now: Date,
  ): grantRules.Grant {
    const { randomness, hashing } = this.ports;
    const { person, client_id, client_name, client_host, resource, redirect_uri, challenge } = authorization;
    const codeExpiresAt = new Date(now.getTime() + grantRules.CODE_TTL_MS);
    return {
      id: randomness.letters(grantRules.GRANT_LETTERS),
      owner_uid: person.uid,
      agent_id: given.agentId,
      client_id,
      client_name,
      ...(client_host !== undefined && { client_host }),
      resource,
      ...given.limits,
      created_at: now,
      used_at: now,
      // Until the code is redeemed, the grant expires together with the code.
      expires_at: codeExpiresAt,
      ends_at: new Date(now.getTime() + grantRules.MAX_GRANT_TTL_MS),
      salt: randomness.secret(SECRET_BYTES),
      code: {
        hash: hashing.sha256(given.secret),
        challenge,
        redirect_uri,
        expires_at: codeExpiresAt,
        is_redeemed: false,
      },
      rotated: 0,
      recent_rotations: [],
      access_tokens: [],
    };
  }
}

/** Returns the limits that the person chose. @throws Hindered not_allowed if they exceed the person's role */
function chosenLimits(uid: string, owner: PersonRoles, { workspace, role, toolsets, readonly }: ChosenAccess): Limits {
  const person = personOf(uid, owner);
  const max = workspace === undefined ? ownRole(person) : roleIn(person, workspace);
  // If the person's role in the workspace is weaker than `role`, the weaker role limits the agent anyway.
  const own = max && ownRole(person);
  if (own === undefined || !hasRole(own, role)) throw new SignInError('not_allowed');
  return limitsOf({ toolsets, held_to: workspace, readonly: readonly || undefined });
}

/** Applies the choices to the agent's other grants. If there are too many, ends the least recently used grant. */
function renewed(others: readonly Versioned<grantRules.Grant>[], limits: Limits, now: Date): SignInChange[] {
  const open = others.filter(({ value }) => value.expires_at > now);
  const latest = [...open].sort((one, other) => other.value.used_at.getTime() - one.value.used_at.getTime());
  const kept = latest.slice(0, grantRules.MAX_GRANTS - 1);
  return others.flatMap((one): SignInChange[] => {
    const { value, version } = one;
    if (!open.includes(one)) return [grantRules.endingOf(value, 'expired', value.expires_at)];
    if (!kept.includes(one)) return [grantRules.endingOf(value, 'replaced', now)];
    const { toolsets: _toolsets, held_to: _heldTo, readonly: _readonly, ...rest } = value;
    return [{ kind: 'replaceGrant', grant: { ...rest, ...limits }, version, opensOther: true }];
  });
}

function agentOf(
  id: string,
  owner: { readonly uid: string; readonly roles: PersonRoles },
  { agentName: name, role, workspace }: ChosenAccess,
  { before, now }: { readonly before: Agent | undefined; readonly now: Date },
): Agent {
  const home = workspace ?? defaultHome(owner.roles, before);
  const { workspace: _former, ...kept } = before ?? { ...NEW_APP, workspace, registered_at: now, last_seen: now };
  return { ...kept, id, name, owner_uid: owner.uid, role, ...(home !== DEFAULT_WORKSPACE && { workspace: home }) };
}

/** Returns the default workspace of the agent's calls: a workspace in which the person has a role. */
function defaultHome(owner: PersonRoles, before: Agent | undefined): string {
  const isTheirs = (workspace: string): boolean => personsRoleIn(owner, workspace) !== undefined;
  const known = [
    ...(before ? [homeWorkspaceOf(before)] : []),
    DEFAULT_WORKSPACE,
    ...Object.keys(owner.workspaces).sort(),
  ];
  return known.find(isTheirs) ?? DEFAULT_WORKSPACE;
}
