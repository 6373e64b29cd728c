/** A person's connections: agents with a credential, and apps from which the person signed in. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { type Ended, isAnything, type Revocation } from '../../../access/rules/revocation.ts';
import { type Agent, homeWorkspaceOf } from '../../../agents/rules/agent.ts';
import type { Credential, Limits } from '../../../identity/rules/credential.ts';
import { endOf, type Grant, isConnected, type StoredSignInEnd } from '../../../identity/rules/grant.ts';
import { accessOfGrant, ancestorsOf, resolveInLinks, validLinks } from '../../../identity/rules/lineage.ts';
import { isAdmin, ownRole, type Principal } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { AnyChange, RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';

export interface Connection {
  readonly agent: Agent;
  readonly opens: Limits & Pick<Credential, 'created_at' | 'expires_at'>;
  /** The name that the app gave itself and, if a document at a website confirms that name, the website's host. */
  readonly app?: Pick<Grant, 'client_name' | 'client_host'>;
  readonly lastSeen: Date;
}

export interface EndedSignIn {
  readonly agent: Agent;
  readonly app: Pick<Grant, 'client_name' | 'client_host'>;
  readonly end: StoredSignInEnd;
}

interface ListedConnections {
  readonly connections: readonly Connection[];
  /** Sign-ins that have ended, latest first. */
  readonly ended: readonly EndedSignIn[];
}

export interface RevokedConnection extends Ended {
  readonly agent: Agent;
}

export class Connections extends Service<AccessPorts & { readonly revocation: Pick<Revocation<AnyChange>, 'revoke'> }> {
  /**
   * Returns connections of a person's agents, sorted by agent id. Agents below leader get only their own connection.
   * @param owner uid of another person; only admins may set it
   * @param limit number of agents to read, some of which may not be connected
   * @throws MusterError FORBIDDEN
   */
  async list(
    principal: Principal,
    owner: string | undefined,
    limit: number,
    after: string | undefined,
  ): Promise<ListedConnections & { readonly next?: string | undefined }> {
    const { directory } = this.ports;
    if (owner !== undefined && owner !== principal.owner_uid && !isAdmin(principal))
      throw new MusterError('FORBIDDEN', 'You can only list your own connections.', {
        field: 'owner',
        value: owner,
        suggestion: "Omit owner. Only admins can list other people's connections.",
      });
    if (!actsForOwner(principal)) return visibleTo(principal, await this.own(principal));
    const { items, more } = await directory.ofOwner(owner ?? principal.owner_uid, limit, after);
    return { ...visibleTo(principal, await this.connectionsOf(items)), next: more ? items.at(-1)?.id : undefined };
  }

  /**
   * Revokes the access of one of the caller's agents (for admins: of any agent), and all access created through it.
   * @throws MusterError NOT_FOUND, also for another person's agent; CONFLICT if the agent is not connected
   */
  async revoke(
    principal: Principal,
    agentId: string,
    recordResponse: RecordResponse<RevokedConnection>,
  ): Promise<RevokedConnection> {
    const known = await this.ports.agents.find(agentId);
    if (known === undefined || !requireRevocable(principal, known))
      throw new MusterError('NOT_FOUND', `The agent "${agentId}" does not exist, or you cannot disconnect it.`, {
        field: 'agent_id',
        value: agentId,
        suggestion: 'access.list_connections lists your agents. People and their leader agents can disconnect them.',
      });
    const shown = (ended: Ended): RevokedConnection => ({
      ...ended,
      agent: known.value,
      invitations: ended.invitations.filter(({ workspace }) => isReachable(principal, workspace)),
    });
    const ended = await this.ports.revocation.revoke(agentId, (all) => recordResponse(shown(all)));
    if (!isAnything(ended))
      throw new MusterError('CONFLICT', `The agent "${agentId}" is not connected.`, {
        field: 'agent_id',
        reason: 'NOTHING_TO_REVOKE',
        suggestion: 'access.list_connections lists connected agents.',
      });
    return shown(ended);
  }

  private async own({ agent_id }: Principal): Promise<ListedConnections> {
    const known = agent_id === undefined ? undefined : await this.ports.agents.find(agent_id);
    return this.connectionsOf(known === undefined ? [] : [known.value]);
  }

  private async connectionsOf(those: readonly Agent[]): Promise<ListedConnections> {
    const { agents, grants, presence, clock } = this.ports;
    const ids = those.map(({ id }) => id);
    const [keys, signIns, seen] = await Promise.all([
      agents.credentialsOf(ids),
      grants.withEnds(ids),
      presence.lastSeen(ids),
    ]);
    const now = clock.now();
    const apps = signIns.flatMap(({ value }) => (isConnected(value, now) ? [value] : []));
    const standing = await validLinks(this.ports, keys.flatMap(ancestorsOf), now);
    const connections = those.flatMap((agent) => {
      // Each key allows only what the connections through which it was created still allow.
      const own = keys.flatMap((key) => {
        const opened = resolveInLinks(standing, accessOfGrant(key, agent.role), ancestorsOf(key));
        if (opened === undefined) return [];
        const { agent_id, created_at } = key;
        const { endsAt: expires_at, role: _, ...limits } = opened.opens;
        return [{ agent_id, created_at, expires_at, ...limits }];
      });
      const lastSeen = seen.get(agent.id) ?? agent.last_seen;
      const isIts = ({ agent_id }: { readonly agent_id: string }): boolean => agent_id === agent.id;
      return [
        ...own.filter(isIts).map((opens) => ({ agent, opens, lastSeen })),
        ...apps.filter(isIts).map((grant) => ({ agent, opens: grant, app: grant, lastSeen })),
      ];
    });
    const ended = signIns.flatMap(({ value: app }) => {
      const [agent, end] = [those.find(({ id }) => id === app.agent_id), endOf(app, now)];
      return agent === undefined || end === undefined ? [] : [{ agent, app, end }];
    });
    return { connections, ended: ended.sort((one, other) => other.end.at.getTime() - one.end.at.getTime()) };
  }
}

/** Returns whether the caller may act for the owner, as people and agents with the role leader may. */
function actsForOwner(principal: Principal): boolean {
  return principal.kind === 'person' || hasRole(ownRole(principal) ?? 'viewer', 'leader');
}

/** Returns the default workspace of calls through the connection. */
export function homeThrough({ agent, opens }: Connection): string {
  return opens.held_to ?? homeWorkspaceOf(agent);
}

function visibleTo(principal: Principal, { connections, ended }: ListedConnections): ListedConnections {
  return {
    connections: connections.filter((one) => isReachable(principal, homeThrough(one))),
    ended: ended.filter(({ agent }) => isReachable(principal, homeWorkspaceOf(agent))),
  };
}

/** Returns whether the caller may see an agent with this default workspace, despite the credential's restriction. */
function isReachable({ held_to }: Principal, home: string): boolean {
  return held_to === undefined || held_to === home;
}

function requireRevocable(principal: Principal, { value: agent }: Versioned<Agent>): boolean {
  if (isAdmin(principal) || principal.agent_id === agent.id) return true;
  if (principal.owner_uid !== agent.owner_uid || !isReachable(principal, homeWorkspaceOf(agent))) return false;
  if (principal.kind === 'person') return true;
  const role = ownRole(principal) ?? 'viewer';
  return hasRole(role, 'leader') && hasRole(role, agent.role);
}
