/** Actions of operators on agents, which use the same services as the endpoint. */
import type { Query } from '@google-cloud/firestore';
import type { Ended } from '../../functions/src/access/rules/revocation.ts';
import {
  type Agent,
  agentFromDocument,
  countedAgent,
  DEFAULT_CONFIGURATION,
  homeWorkspaceOf,
  workspacesOf,
} from '../../functions/src/agents/rules/agent.ts';
import { newCredential, type Registered } from '../../functions/src/agents/rules/registration.ts';
import { compose } from '../../functions/src/composition/compose.ts';
import { externalServices } from '../../functions/src/composition/externalServices.ts';
import type { Credential, Limits } from '../../functions/src/identity/rules/credential.ts';
import { isConnected } from '../../functions/src/identity/rules/grant.ts';
import { grantedLimits, withdrawalOf } from '../../functions/src/identity/rules/lineage.ts';
import { DEFAULT_WORKSPACE, type Principal } from '../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../functions/src/identity/rules/role.ts';
import type { Versioned } from '../../functions/src/kernel/commit.ts';
import { retryOnConflict } from '../../functions/src/kernel/concurrency.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { pagesOf, readable } from '../operator/documents.ts';
import { ownerNamed as findOwner, missingAccessOf as lackIn, rolesOf } from '../operator/owners.ts';
import { limitsIn, type Options } from './arguments.ts';

const unkeyed = {
  argumentsHash: undefined,
  recordResponse: () => undefined,
  derivedSecret: () => undefined,
  derivedId: () => undefined,
};

const { services, access, kernel } = compose(externalServices());
const { ports } = access;

/** Returns a principal with all permissions, with which an operator acts on behalf of the agent's owner. */
function operatorFor(owner: string): Principal {
  const admin = { role: 'admin', workspaces: {}, access: {} } as const;
  return { uid: owner, kind: 'person', owner_uid: owner, maxRole: 'admin', owner: admin };
}

/** @param uid the owner's uid */
export function create(name: string, uid: string, given: Options): Promise<Registered> {
  const { role, workspace } = given;
  return services.registration.register(
    { principal: operatorFor(uid), workspace: DEFAULT_WORKSPACE },
    {
      name,
      type: role === 'worker' || role === 'viewer' ? 'developer' : 'coordinator',
      version: '1.0.0',
      capability_details: [],
      configuration: DEFAULT_CONFIGURATION,
      role,
      workspace,
      limits: limitsIn(given),
    },
    unkeyed,
    () => undefined,
  );
}

/** Replaces an agent's credentials with a new one. If that is restricted to a workspace, the agent moves there. */
export async function renew(agentId: string, given: Options): Promise<Registered> {
  const { agents, store, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const known = await existing(agentId);
    const old = await agents.credentials(agentId);
    const limits = grantedLimits(operatorFor(known.value.owner_uid), old, limitsIn(given));
    const secret = randomness.secret(32);
    const credential = newCredential(ports, agentId, secret, { ...limits, ancestors: [] });
    const home = given.workspace ?? limits.held_to ?? homeWorkspaceOf(known.value);
    const agent: Agent = { ...known.value, ...(home !== homeWorkspaceOf(known.value) && { workspace: home }) };
    await store.commit([
      { kind: 'replaceAgent', agent, version: known.version },
      ...countedAgent(known.value, agent),
      ...old.map(withdrawalOf),
      { kind: 'issueCredential', credential },
    ]);
    return { agent, credential, secret };
  });
}

/** Sets an agent's role and returns its previous role. */
export async function setRole(agentId: string, role: Role): Promise<Role> {
  const { store, randomness } = ports;
  return retryOnConflict(randomness, async () => {
    const { value, version } = await existing(agentId);
    await store.commit([{ kind: 'replaceAgent', agent: { ...value, role }, version }]);
    return value.role;
  });
}

/** Revokes an agent, the agents that it registered, its invitations and its pending calls. */
export function revoke(agentId: string): Promise<Ended> {
  return services.revocation.revoke(agentId);
}

async function existing(agentId: string): Promise<Versioned<Agent>> {
  const known = await access.ports.agents.find(agentId);
  if (known === undefined) throw new Error(`Agent "${agentId}" not found.`);
  return known;
}

/** A credential, or the grant of an app, with its restrictions. */
type Opening = Limits & Pick<Credential, 'created_at' | 'expires_at'>;

export interface Listed {
  readonly agent: Agent;
  /** The agent's newest credential or grant; undefined if the agent has neither. */
  readonly credential: Opening | undefined;
}

/**
 * Yields the agents, ordered by id. If an owner or a workspace is specified, yields only its agents.
 * @param onUnreadable called with the path of each unreadable document
 */
export async function* listed(
  { owner, workspace }: Pick<Options, 'owner' | 'workspace'>,
  onUnreadable: (path: string) => void,
): AsyncGenerator<Listed, void, undefined> {
  const all: Query = firestore().collection(COLLECTIONS.agents);
  for await (const page of pagesOf(owner === undefined ? all : all.where('owner_uid', '==', owner)))
    for (const { value: agent } of readable(page, agentFromDocument, onUnreadable)) {
      if (workspace !== undefined && !workspacesOf(agent).includes(workspace)) continue;
      yield { agent, credential: await latestOf(agent.id) };
    }
}

async function latestOf(agentId: string): Promise<Opening | undefined> {
  const [keys, grants] = await Promise.all([
    access.ports.agents.credentials(agentId),
    access.ports.grants.ofAgents([agentId]),
  ]);
  const apps = grants.flatMap(({ value }) => (isConnected(value, kernel.clock.now()) ? [value] : []));
  return [...keys, ...apps].sort((one, other) => other.created_at.getTime() - one.created_at.getTime())[0];
}

/** Returns the owner's uid. @throws Error if no person with this uid or address is known */
export function ownerNamed(owner: string): Promise<string> {
  return findOwner(ports, owner);
}

/** Returns a warning if the role of the agent's owner is lower than the agent's role. */
export async function lackOf(agent: Agent): Promise<string | undefined> {
  return lackIn(await rolesOf(ports, agent.owner_uid), agent.owner_uid, agent.role, homeWorkspaceOf(agent));
}
