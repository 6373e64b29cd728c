/** The agents through which a person is connected: those that have a credential, and apps that were signed in from. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { type Ended, isAnything, type Revocation } from '../../../access/rules/revocation.ts';
import { type Agent, homeOf } from '../../../agents/rules/agent.ts';
import type { Credential, Limits } from '../../../identity/rules/credential.ts';
import { endOf, type Grant, isConnected, type StoredEnd } from '../../../identity/rules/grant.ts';
import { ancestorsOf, openedIn, openingOf, standingLinks } from '../../../identity/rules/lineage.ts';
import { isAdmin, ownRole, type Principal } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { AnyChange, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';

/** An agent with a key of its own, or an app that its owner has signed in from. */
export interface Connection {
  readonly agent: Agent;
  readonly opens: Limits & Pick<Credential, 'created_at' | 'expires_at'>;
  /** What the app calls itself, and whose document says so, where there is one. */
  readonly app?: Pick<Grant, 'client_name' | 'client_host'>;
  readonly lastSeen: Date;
}

/** A sign-in that ended. */
export interface EndedSignIn {
  readonly agent: Agent;
  readonly app: Pick<Grant, 'client_name' | 'client_host'>;
  readonly end: StoredEnd;
}

interface Listed {
  readonly connections: readonly Connection[];
  /** Latest first. */
  readonly ended: readonly EndedSignIn[];
}

export interface Revoked extends Ended {
  readonly agent: Agent;
}

export class Connections extends Service<
  AccessPorts & { readonly revocation: Pick<Revocation<AnyChange>, 'revoke'> }
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
  ): Promise<Listed & { readonly next?: string | undefined }> {
    const { directory } = this.ports;
    if (owner !== undefined && owner !== principal.owner_uid && !isAdmin(principal)) throw notYours(owner);
    if (!speaksForOwner(principal)) return shownTo(principal, await this.own(principal));
    const { items, more } = await directory.ofOwner(owner ?? principal.owner_uid, limit, after);
    return { ...shownTo(principal, await this.of(items)), next: more ? items.at(-1)?.id : undefined };
  }

  /**
   * Ends an agent of one's own, or, to an admin, any, and everything that came from it.
   * @throws MusterError NOT_FOUND, the same for somebody else's; CONFLICT if nothing is left to end
   */
  async revoke(principal: Principal, agentId: string, recordAnswer: RecordAnswer<Revoked>): Promise<Revoked> {
    const known = await this.ports.agents.find(agentId);
    if (known === undefined || !mayRevoke(principal, known)) throw noConnection(agentId);
    const shown = (ended: Ended): Revoked => ({
      ...ended,
      agent: known.value,
      invitations: ended.invitations.filter(({ workspace }) => isInReach(principal, workspace)),
    });
    const ended = await this.ports.revocation.revoke(agentId, (all) => recordAnswer(shown(all)));
    if (!isAnything(ended)) throw nothingToRevoke(agentId);
    return shown(ended);
  }

  private async own({ agent_id }: Principal): Promise<Listed> {
    const known = agent_id === undefined ? undefined : await this.ports.agents.find(agent_id);
    return this.of(known === undefined ? [] : [known.value]);
  }

  private async of(those: readonly Agent[]): Promise<Listed> {
    const { agents, grants, presence, clock } = this.ports;
    const ids = those.map(({ id }) => id);
    const [keys, signIns, seen] = await Promise.all([
      agents.credentialsOf(ids),
      grants.withEnds(ids),
      presence.lastSeen(ids),
    ]);
    const now = clock.now();
    const apps = signIns.flatMap(({ value }) => (isConnected(value, now) ? [value] : []));
    const standing = await standingLinks(this.ports, keys.flatMap(ancestorsOf), now);
    const connections = those.flatMap((agent) => {
      // What a key was registered through may have ended, or open less than the key.
      const own = keys.flatMap((key) => {
        const opened = openedIn(standing, openingOf(key, agent.role), ancestorsOf(key));
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

/** A person speaks for themselves, and an agent that leads for its owner. */
function speaksForOwner(principal: Principal): boolean {
  return principal.kind === 'person' || hasRole(ownRole(principal) ?? 'viewer', 'leader');
}

/** The workspace of the calls that name none. */
export function homeThrough({ agent, opens }: Connection): string {
  return opens.held_to ?? homeOf(agent);
}

function shownTo(principal: Principal, { connections, ended }: Listed): Listed {
  return {
    connections: connections.filter((one) => isInReach(principal, homeThrough(one))),
    ended: ended.filter(({ agent }) => isInReach(principal, homeOf(agent))),
  };
}

/** A credential that is restricted to one workspace learns nothing of agents in others. */
function isInReach({ held_to }: Principal, home: string): boolean {
  return held_to === undefined || held_to === home;
}

function mayRevoke(principal: Principal, { value: agent }: Versioned<Agent>): boolean {
  if (isAdmin(principal) || principal.agent_id === agent.id) return true;
  if (principal.owner_uid !== agent.owner_uid || !isInReach(principal, homeOf(agent))) return false;
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
