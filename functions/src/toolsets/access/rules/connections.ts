/** The agents through which a person is connected: those that have a credential, and apps that were signed in from. */
import type { Agent } from '../../../access/rules/agent.ts';
import { type Grant, isConnected } from '../../../access/rules/grant.ts';
import type { Limits } from '../../../access/rules/limits.ts';
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

/** An agent with a key of its own, or an app that its owner has signed in from. */
export interface Connection {
  readonly agent: Agent;
  readonly opens: Limits & Pick<Credential, 'createdAt' | 'expiresAt'>;
  /** What the app calls itself, and whose document says so, where there is one. */
  readonly app?: Pick<Grant, 'clientName' | 'clientHost'>;
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
    const { directory } = this.ports;
    if (owner !== undefined && owner !== principal.ownerUid && !isAdmin(principal)) throw notYours(owner);
    if (!speaksForOwner(principal)) return { connections: await this.own(principal) };
    const { items, more } = await directory.ofOwner(owner ?? principal.ownerUid, limit, after);
    return { connections: await this.of(items), next: more ? items.at(-1)?.id : undefined };
  }

  /**
   * Withdraws the credentials of an agent: of one's own, or, to an admin, of any.
   * @throws MusterError NOT_FOUND, the same for somebody else's
   */
  async revoke(principal: Principal, agentId: string, recordAnswer: RecordAnswer<Revoked>): Promise<Revoked> {
    const known = await this.ports.agents.find(agentId);
    if (known === undefined || !mayRevoke(principal, known)) throw noConnection(agentId);
    const { value: agent } = known;
    const { agents, grants, registration } = this.ports;
    const [keys, open] = await Promise.all([agents.credentials(agentId), grants.ofAgents([agentId])]);
    if (keys.length + open.length === 0) throw nothingToRevoke(agentId);
    const credentials = await registration.revoke(agentId, (count) =>
      recordAnswer({ agent, credentials: count }),
    );
    return { agent, credentials };
  }

  /** What an app has registered ends with it. */
  private async stands({ grant: id }: Credential, now: Date): Promise<boolean> {
    if (id === undefined) return true;
    const grant = await this.ports.grants.find(id);
    return grant !== undefined && isConnected(grant.value, now);
  }

  private async own({ agentId }: Principal): Promise<readonly Connection[]> {
    const known = agentId === undefined ? undefined : await this.ports.agents.find(agentId);
    return known === undefined ? [] : this.of([known.value]);
  }

  private async of(those: readonly Agent[]): Promise<readonly Connection[]> {
    const { agents, grants, presence, clock } = this.ports;
    const ids = those.map(({ id }) => id);
    const [keys, open, seen] = await Promise.all([
      agents.credentialsOf(ids),
      grants.ofAgents(ids),
      presence.lastSeen(ids),
    ]);
    const now = clock.now();
    const apps = open.flatMap(({ value }) => (isConnected(value, now) ? [value] : []));
    const standing = await Promise.all(keys.map((key) => this.stands(key, now)));
    const own = keys.filter((_, index) => standing[index]);
    return those.flatMap((agent) => {
      const lastSeen = seen.get(agent.id) ?? agent.lastSeen;
      const isIts = ({ agentId }: { readonly agentId: string }): boolean => agentId === agent.id;
      return [
        ...own.filter(isIts).map((opens) => ({ agent, opens, lastSeen })),
        ...apps.filter(isIts).map((grant) => ({ agent, opens: grant, app: grant, lastSeen })),
      ];
    });
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
  return new MusterError('CONFLICT', `The agent "${agentId}" is not connected.`, {
    field: 'agent_id',
    reason: 'NOTHING_TO_REVOKE',
    suggestion: 'access.list_connections lists the agents that are.',
  });
}
