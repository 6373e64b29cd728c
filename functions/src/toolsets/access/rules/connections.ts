/** The agents through which a person is connected: those that have a credential. */
import type { Agent } from '../../../access/rules/agent.ts';
import {
  type AccessPorts,
  type Credential,
  hasRole,
  isAdmin,
  ownRole,
  type Principal,
} from '../../../access/rules/principal.ts';
import type { AgentRegistration } from '../../../access/rules/registration.ts';
import type { RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';

export interface Connection {
  readonly agent: Agent;
  readonly credential: Credential;
  readonly lastSeen: Date;
}

export interface Revoked {
  readonly agent: Agent;
  readonly credentials: number;
}

export class Connections extends Service<
  AccessPorts & { readonly registration: Pick<AgentRegistration, 'revoke'> }
> {
  /**
   * A person's connections, by the ids of their agents. To an agent that does not lead, its own alone.
   * @param owner another person, whom an admin names
   * @param limit how many agents are looked at, of which some may have no credential
   * @throws MusterError NOT_FOUND
   */
  async list(
    principal: Principal,
    owner: string | undefined,
    limit: number,
    after: string | undefined,
  ): Promise<{ readonly connections: readonly Connection[]; readonly next?: string | undefined }> {
    const { directory, agents, presence } = this.ports;
    if (owner !== undefined && owner !== principal.ownerUid && !isAdmin(principal)) throw notYours(owner);
    if (!speaksForOwner(principal)) return { connections: await this.own(principal) };
    const { items, more } = await directory.ofOwner(owner ?? principal.ownerUid, limit, after);
    const ids = items.map(({ id }) => id);
    const [credentials, seen] = await Promise.all([agents.credentialsOf(ids), presence.lastSeen(ids)]);
    const connections = items.flatMap((agent) =>
      credentials
        .filter(({ agentId }) => agentId === agent.id)
        .map((credential) => ({ agent, credential, lastSeen: seen.get(agent.id) ?? agent.lastSeen })),
    );
    return { connections, next: more ? ids.at(-1) : undefined };
  }

  /**
   * Withdraws the credentials of an agent: of one's own, or, to an admin, of any.
   * @throws MusterError NOT_FOUND, the same for somebody else's
   */
  async revoke(principal: Principal, agentId: string, recordAnswer: RecordAnswer<Revoked>): Promise<Revoked> {
    const known = await this.ports.agents.find(agentId);
    if (known === undefined || !mayRevoke(principal, known)) throw noConnection(agentId);
    const { value: agent } = known;
    const { agents, registration } = this.ports;
    if ((await agents.credentials(agentId)).length === 0) throw nothingToRevoke(agentId);
    const credentials = await registration.revoke(agentId, (count) =>
      recordAnswer({ agent, credentials: count }),
    );
    return { agent, credentials };
  }

  private async own({ agentId }: Principal): Promise<readonly Connection[]> {
    if (agentId === undefined) return [];
    const { agents, presence } = this.ports;
    const [known, credentials, seen] = await Promise.all([
      agents.find(agentId),
      agents.credentials(agentId),
      presence.lastSeen([agentId]),
    ]);
    if (known === undefined) return [];
    const { value: agent } = known;
    return credentials.map((credential) => ({
      agent,
      credential,
      lastSeen: seen.get(agentId) ?? agent.lastSeen,
    }));
  }
}

/** A person speaks for themselves, and an agent that leads for its owner. */
function speaksForOwner(principal: Principal): boolean {
  return principal.kind === 'person' || hasRole(ownRole(principal) ?? 'viewer', 'leader');
}

function mayRevoke(principal: Principal, { value: agent }: Versioned<Agent>): boolean {
  if (isAdmin(principal) || principal.agentId === agent.id) return true;
  if (principal.ownerUid !== agent.ownerUid) return false;
  if (principal.kind === 'person') return true;
  const role = ownRole(principal) ?? 'viewer';
  return hasRole(role, 'leader') && hasRole(role, agent.role);
}

function notYours(owner: string): MusterError {
  return new MusterError('FORBIDDEN', 'You may list your own connections alone.', {
    field: 'owner',
    value: owner,
    suggestion: "Leave owner out. Other people's are an admin's to list.",
  });
}

function noConnection(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no agent "${agentId}" that you may disconnect.`, {
    field: 'agent_id',
    value: agentId,
    suggestion:
      'access.list_connections lists your agents. A person disconnects them, or an agent that leads.',
  });
}

function nothingToRevoke(agentId: string): MusterError {
  return new MusterError('CONFLICT', `The agent "${agentId}" has no credential.`, {
    field: 'agent_id',
    reason: 'NOTHING_TO_REVOKE',
    suggestion: 'access.list_connections lists the agents that have one.',
  });
}
