/** Determines whether agents are online and available. Source: docs/semantics.md#coordination. */
import { hasRoleIn, type Principal, personsRoleIn, roleIn } from '../../identity/rules/principal.ts';
import { hasRole } from '../../identity/rules/role.ts';
import type { RecordResponse, Versioned } from '../../kernel/commit.ts';
import { Batching, retryOnConflict, withTimeout } from '../../kernel/concurrency.ts';
import type { TimeCursor } from '../../kernel/paging.ts';
import { readFor, Service } from '../../kernel/ports.ts';
import type { SweepContext, SweepJob, SweepReport } from '../../kernel/sweep.ts';
import {
  type Agent,
  type AgentChange,
  type Availability,
  agentNotRegistered,
  countedAgent,
  countedAgents,
  isOwnAgent,
  markedOffline,
  markedSeen,
  notAllowedToAct,
  terminalId,
  workspacesOf,
} from './agent.ts';
import type { AgentPorts } from './ports.ts';

/** Number of agents that one commit marks as offline. */
const PAGE = 200;
const CONCURRENT_PAGES = 8;

/** Name of the sweep's job that releases or renews expired leases. */
export const LEASES = 'leases';

/** Agent that a caller acts as. A leader who acts as another owner's agent cannot read the messages to that agent. */
export interface ActingAgent extends Pick<Agent, 'id' | 'has_messages' | 'registered_by'> {
  readonly readsMessages: boolean;
}

/** Returns whether the caller may read an agent's messages: it is the caller's agent, or they have the same owner. */
export function mayReadMessages(principal: Principal, agent: Agent): boolean {
  return isOwnAgent(principal, agent) || agent.owner_uid === principal.owner_uid;
}

/** Maximum time that a call waits until its agent is marked as active, in milliseconds. */
const MARK_ONLINE_TIMEOUT_MS = 2000;

export class AgentLiveness extends Service<AgentPorts> {
  private readonly restoring = new Batching<string, void>((ids) => this.markAllOnline(ids), PAGE);

  /** Runs after the job LEASES, which reads the presence that this job deletes. */
  readonly sweepJob: SweepJob = { name: 'liveness', after: LEASES, run: (turn) => this.sweep(turn) };

  /** Marks unseen agents as offline and deletes their presence. Each commit marks many agents. */
  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const counts = { offline: 0 };
    const health = await turn.presence;
    if (health !== 'trusted') return { counts, isBehind: health === 'away' };
    const before = new Date(turn.now.getTime() - OFFLINE_AFTER_MS);
    const underWay = new Set<Promise<void>>();
    let stoppedAt = turn.from;
    let more = true;
    while (more && !turn.isOver()) {
      const unseen = await this.ports.presence.notSeenSince(before, PAGE, stoppedAt);
      const page = [...unseen].map(([id, at]) => ({ id, at }));
      const retiring = this.markAllOffline(page, before).then((retired) => {
        counts.offline += retired;
        underWay.delete(retiring);
      });
      underWay.add(retiring);
      stoppedAt = page.at(-1) ?? stoppedAt;
      more = page.length === PAGE;
      if (underWay.size === CONCURRENT_PAGES) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    return { counts, isBehind: more, ...(more && { stoppedAt }) };
  }

  /** Marks agents as offline. A failure for one agent affects no others. @returns the number of offline agents */
  private async markAllOffline(unseen: readonly TimeCursor[], before: Date): Promise<number> {
    const isMarked = await this.markOffline(unseen).then(
      () => true,
      () => false,
    );
    const retired = await Promise.all(
      unseen.map(async ({ id, at }) => {
        try {
          if (!isMarked) await this.mark(id, 'offline', at);
          return await this.forget(id, before);
        } catch (error) {
          this.ports.log.error('liveness_failed', { agentId: id, error });
          return false;
        }
      }),
    );
    return retired.filter((isOffline) => isOffline).length;
  }

  private markOffline(unseen: readonly TimeCursor[]): Promise<void> {
    const lastSeen = new Map(unseen.map(({ id, at }) => [id, at]));
    return this.markBatchOffline([...lastSeen.keys()], (agent) =>
      agent.status === 'active' ? markedOffline(agent, lastSeen.get(agent.id) ?? agent.last_seen) : undefined,
    );
  }

  /**
   * Changes several agents in one commit. The agent counts of each workspace are written only once.
   * @param marked returns the changed agent, or undefined if the agent stays unchanged
   * @throws StaleWriteError if an agent has changed since it was read; UnreadableError if an agent is unreadable
   */
  private async markBatchOffline(ids: readonly string[], marked: (agent: Agent) => Agent | undefined): Promise<void> {
    const { agents, store } = this.ports;
    const known = await agents.findAll(ids);
    const changed = known.flatMap(({ value: before, version }) => {
      const agent = marked(before);
      return agent === undefined ? [] : [{ before, agent, version }];
    });
    await store.commit([
      ...changed.map((change): AgentChange => ({ kind: 'replaceAgent', ...change })),
      ...countedAgents(changed.map(({ before, agent }) => [before, agent] as const)),
    ]);
  }

  /** Deletes an agent's presence, unless the agent was seen after `before`. @returns whether the agent is offline */
  private async forget(agentId: string, before: Date): Promise<boolean> {
    const forgotten = await this.ports.presence.remove(agentId, before);
    if (!forgotten) await this.mark(agentId, 'active', this.ports.clock.now());
    return forgotten;
  }

  /** Marks an agent as active. Concurrent calls share one commit, which writes the counts once. Never fails. */
  async markOnline(agentId: string): Promise<void> {
    try {
      await withTimeout(this.restoring.add(agentId), MARK_ONLINE_TIMEOUT_MS, 'The agent');
    } catch (error) {
      this.ports.log.warn('agent_not_revived', { agentId, error });
    }
  }

  private async markAllOnline(agentIds: readonly string[]): Promise<() => void> {
    const now = this.ports.clock.now();
    try {
      await this.markBatchOffline([...new Set(agentIds)], (agent) =>
        agent.status === 'active' ? undefined : markedSeen(agent, now),
      );
    } catch {
      // An agent of the batch has just changed or is unreadable, so each agent is marked in a separate commit.
      await Promise.all(
        agentIds.map((id) =>
          this.mark(id, 'active', now).catch((error: unknown) =>
            this.ports.log.warn('agent_not_revived', { agentId: id, error }),
          ),
        ),
      );
    }
    return () => undefined;
  }

  /**
   * Finds the agent with this name that the caller may act as. If the agent is not the caller, records that the agent
   * was seen.
   * @returns the agent's id, which differs from the name if an agent of another owner has the name as its id
   * @throws MusterError FORBIDDEN; for leaders NOT_FOUND if no such agent exists
   */
  async actAs(principal: Principal, workspace: string, name: string): Promise<string> {
    return (await this.acting(principal, workspace, name)).id;
  }

  /** Like `actAs`, but also returns whether the agent has messages and whether the caller may read them. */
  async acting(principal: Principal, workspace: string, name: string): Promise<ActingAgent> {
    if (principal.agent_id === name)
      return { id: name, has_messages: principal.has_messages === true, readsMessages: true };
    const { value: agent } = await this.markedOnline(principal, workspace, name);
    await touchPresence(this.ports, agent);
    return { ...agent, readsMessages: mayReadMessages(principal, agent) };
  }

  /** Finds an agent that the caller may act as, and marks it as active. @throws MusterError FORBIDDEN, NOT_FOUND */
  async markedOnline(principal: Principal, workspace: string, name: string): Promise<Versioned<Agent>> {
    const known = await this.requireActable(principal, workspace, name);
    if (known === undefined) {
      const leads = hasRoleIn(principal, workspace, 'leader');
      throw leads ? agentNotRegistered(name) : notAllowedToAct(principal, name);
    }
    if (known.value.status === 'offline') await this.markOnline(known.value.id);
    return known;
  }

  /**
   * Finds the agent with this name that the caller may act as: itself or its terminals; for leaders, also agents of
   * the same owner, and agents in the workspace whose owner has a role there. Other agents are hidden.
   */
  async requireActable(principal: Principal, workspace: string, name: string): Promise<Versioned<Agent> | undefined> {
    const find = (id: string) => readFor(principal.owner_uid, this.ports.agents.find(id));
    const known = await find(name);
    if (known !== undefined && isOwnAgent(principal, known.value)) return known;
    const terminal = await find(terminalId(this.ports.hashing, principal, name));
    if (terminal !== undefined && isOwnAgent(principal, terminal.value)) return terminal;
    const role = roleIn(principal, workspace);
    if (known === undefined || role === undefined) return undefined;
    if (!hasRole(role, 'leader') || !hasRole(role, known.value.role)) return undefined;
    const { owner_uid } = known.value;
    if (owner_uid === principal.owner_uid) return known;
    if (!workspacesOf(known.value).includes(workspace)) return undefined;
    return personsRoleIn(await this.ports.roles.of(owner_uid), workspace) === undefined ? undefined : known;
  }

  private async mark(agentId: string, status: 'active' | 'offline', lastSeen: Date): Promise<void> {
    const { agents, store, randomness } = this.ports;
    await retryOnConflict(randomness, async () => {
      const known = await agents.find(agentId);
      if (known === undefined || known.value.status === status) return;
      const agent = status === 'active' ? markedSeen(known.value, lastSeen) : markedOffline(known.value, lastSeen);
      await store.commit([
        { kind: 'replaceAgent', agent, before: known.value, version: known.version },
        ...countedAgent(known.value, agent),
      ]);
    });
  }
}

/** Returns the agent that makes the call; undefined if a person makes it. */
export function callingAgent({ agent_id: id, workspace }: Principal): Pick<Agent, 'id' | 'workspace'> | undefined {
  if (id === undefined) return undefined;
  return { id, ...(workspace !== undefined && { workspace }) };
}

/** Records that an agent was just seen. An error is logged, not thrown. @returns whether it was recorded */
export async function touchPresence(
  { presence, log }: Pick<AgentPorts, 'presence' | 'log'>,
  agent: Pick<Agent, 'id' | 'workspace'>,
  leaseSeconds?: number,
): Promise<boolean> {
  try {
    await presence.touch(agent.id, agent.workspace, leaseSeconds);
    return true;
  } catch (error) {
    log.warn('presence_not_noted', { agentId: agent.id, error });
    return false;
  }
}

/** Returns the record of a call in which an agent acts with the credential of another agent. */
export function recordedAs<Outcome>(agentId: string, record: RecordResponse<Outcome>): RecordResponse<Outcome> {
  return (outcome) => {
    const made = record(outcome);
    const { by } = made ?? {};
    if (by?.agent_id === undefined || by.agent_id === agentId) return made;
    return { ...made, by: { ...by, agent_id: agentId, credential_of: by.agent_id } };
  };
}

/** An agent that makes no calls for this time (three heartbeats, one per minute) is offline. */
const OFFLINE_AFTER_MS = 3 * 60_000;

export function availability({ status, held, configuration, last_failed }: Agent): Availability {
  if (status === 'offline') return 'offline';
  const count = Object.keys(held).length;
  if (count >= configuration.max_concurrent_tasks) return 'busy';
  if (count > 0) return 'active';
  return last_failed ? 'error' : 'idle';
}

/** Returns the agent with the status that follows from its presence, because the stored status can be outdated. */
export function withPresence(agent: Agent, lastSeen: Date | undefined, now: Date): Agent {
  if (agent.status === 'offline' || lastSeen === undefined) return agent;
  const isOffline = now.getTime() - lastSeen.getTime() > OFFLINE_AFTER_MS;
  return { ...agent, last_seen: lastSeen, status: isOffline ? 'offline' : 'active' };
}
