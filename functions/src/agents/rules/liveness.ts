/** Which agents are alive, and what they are doing. Source: docs/semantics.md#coordination. */
import { type Principal, personsRoleIn, roleIn } from '../../identity/rules/principal.ts';
import { hasRole } from '../../identity/rules/role.ts';
import type { Versioned } from '../../kernel/commit.ts';
import type { Position } from '../../kernel/paging.ts';
import { readFor, Service } from '../../kernel/ports.ts';
import type { SweepPart, SweepTurn, Swept } from '../../kernel/sweep.ts';
import { Batching, inTime, retryStale } from '../../kernel/waiting.ts';
import {
  type Agent,
  type AgentChange,
  type Availability,
  agentNotRegistered,
  countedAgent,
  countedAgents,
  forbiddenToAct,
  goneSince,
  isOwnAgent,
  seenAt,
  terminalId,
  workspacesOf,
} from './agent.ts';
import type { AgentPorts } from './ports.ts';

/** How many agents are marked in one commit, and how many of these are under way at once. */
const PAGE = 200;

const PAGES_AT_ONCE = 8;

/** The name of the part that releases or renews lapsed leases. */
export const LEASES = 'leases';

/** An agent that a caller acts as. A leader who acts for another's agent does not read what was written to it. */
export interface ActingAgent extends Pick<Agent, 'id' | 'has_messages'> {
  readonly readsMessages: boolean;
}

/** Whether messages to an agent are the caller's to read: its own, those of its terminals, and those of its owner's agents. */
export function mayReadMessages(principal: Principal, agent: Agent): boolean {
  return isOwnAgent(principal, agent) || agent.owner_uid === principal.owner_uid;
}

/** How long a call waits until its agent is marked as active. */
const REVIVAL_MILLISECONDS = 2000;

export class AgentLiveness extends Service<AgentPorts> {
  private readonly reviving = new Batching<string, void>((ids) => this.reviveAll(ids), PAGE);

  /** It forgets presence, which decides about leases: they come first. */
  readonly part: SweepPart = { name: 'liveness', after: LEASES, run: (turn) => this.sweep(turn) };

  /** Marks unseen agents offline, then forgets their presence: many at a time, since a whole town may go home at six. */
  private async sweep(turn: SweepTurn): Promise<Swept> {
    const counts = { offline: 0 };
    const health = await turn.presence;
    if (health !== 'trusted') return { counts, isBehind: health === 'away' };
    const before = new Date(turn.now.getTime() - SILENCE_MILLISECONDS);
    const underWay = new Set<Promise<void>>();
    let stoppedAt = turn.from;
    let more = true;
    while (more && !turn.isOver()) {
      const unseen = await this.ports.presence.unseenSince(before, PAGE, stoppedAt);
      const page = [...unseen].map(([id, at]) => ({ id, at }));
      const retiring = this.retireAll(page, before).then((retired) => {
        counts.offline += retired;
        underWay.delete(retiring);
      });
      underWay.add(retiring);
      stoppedAt = page.at(-1) ?? stoppedAt;
      more = page.length === PAGE;
      if (underWay.size === PAGES_AT_ONCE) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    return { counts, isBehind: more, ...(more && { stoppedAt }) };
  }

  /** Tells how many of them are offline now. Never fails: one that cannot be marked must not keep others alive for ever. */
  private async retireAll(unseen: readonly Position[], before: Date): Promise<number> {
    const marked = await this.markGone(unseen).catch(() => undefined);
    const retired = await Promise.all(
      unseen.map(async ({ id, at }) => {
        try {
          if (marked === undefined) await this.mark(id, 'offline', at);
          return await this.forget(id, before);
        } catch (error) {
          this.ports.log.error('liveness_failed', { agentId: id, error });
          return false;
        }
      }),
    );
    return retired.filter((isGone) => isGone).length;
  }

  /** Marks them offline in one commit. */
  private markGone(unseen: readonly Position[]): Promise<void> {
    const lastSeen = new Map(unseen.map(({ id, at }) => [id, at]));
    return this.markTogether([...lastSeen.keys()], (agent) =>
      agent.status === 'active' ? goneSince(agent, lastSeen.get(agent.id) ?? agent.last_seen) : undefined,
    );
  }

  /**
   * Changes agents in one commit: many together write the counts of their workspace once.
   * @param marked the agent as it is to be; undefined if it stays
   * @throws StaleWriteError where one of them has changed meanwhile, UnreadableError where one cannot be read
   */
  private async markTogether(
    ids: readonly string[],
    marked: (agent: Agent) => Agent | undefined,
  ): Promise<void> {
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

  /** Tells whether the agent is offline now: it may be heard of again just then. */
  private async forget(agentId: string, before: Date): Promise<boolean> {
    const forgotten = await this.ports.presence.forget(agentId, before);
    if (!forgotten) await this.mark(agentId, 'active', this.ports.clock.now());
    return forgotten;
  }

  /** Marks an agent active with others: each alone would write the workspace's counts. Waits a moment; never fails. */
  async revive(agentId: string): Promise<void> {
    try {
      await inTime(this.reviving.add(agentId), REVIVAL_MILLISECONDS, 'The agent');
    } catch (error) {
      this.ports.log.warn('agent_not_revived', { agentId, error });
    }
  }

  private async reviveAll(agentIds: readonly string[]): Promise<() => void> {
    const now = this.ports.clock.now();
    try {
      await this.markTogether([...new Set(agentIds)], (agent) =>
        agent.status === 'active' ? undefined : seenAt(agent, now),
      );
    } catch {
      // One of them has just changed, or cannot be read.
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
   * Finds the agent that the caller names, in a workspace, and may act as, and notes that another one than itself was
   * seen.
   * @returns its id, which is another than the name where somebody else's agent has that
   * @throws MusterError FORBIDDEN, or NOT_FOUND to leaders
   */
  async actAs(principal: Principal, workspace: string, name: string): Promise<string> {
    return (await this.acting(principal, workspace, name)).id;
  }

  /** The same, with its messages as far as the caller may read them. */
  async acting(principal: Principal, workspace: string, name: string): Promise<ActingAgent> {
    if (principal.agent_id === name)
      return { id: name, has_messages: principal.has_messages === true, readsMessages: true };
    const { value: agent } = await this.revived(principal, workspace, name);
    await touchPresence(this.ports, agent);
    return { ...agent, readsMessages: mayReadMessages(principal, agent) };
  }

  /** An agent the caller may act as, active from now on. @throws MusterError FORBIDDEN, or NOT_FOUND to leaders */
  async revived(principal: Principal, workspace: string, name: string): Promise<Versioned<Agent>> {
    const known = await this.actable(principal, workspace, name);
    if (known === undefined) {
      const leads = hasRole(roleIn(principal, workspace) ?? 'viewer', 'leader');
      throw leads ? agentNotRegistered(name) : forbiddenToAct(principal, name);
    }
    if (known.value.status === 'offline') await this.revive(known.value.id);
    return known;
  }

  /**
   * The agent of a name that the caller may act as: one of its own, or, to a leader of the workspace, one of the same
   * owner or one in it whose owner is. Of others nobody learns that they are there.
   */
  async actable(
    principal: Principal,
    workspace: string,
    name: string,
  ): Promise<Versioned<Agent> | undefined> {
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
    await retryStale(randomness, async () => {
      const known = await agents.find(agentId);
      if (known === undefined || known.value.status === status) return;
      const agent = status === 'active' ? seenAt(known.value, lastSeen) : goneSince(known.value, lastSeen);
      await store.commit([
        { kind: 'replaceAgent', agent, before: known.value, version: known.version },
        ...countedAgent(known.value, agent),
      ]);
    });
  }
}

/** The agent that makes a call, where one does. */
export function callingAgent({
  agent_id: id,
  workspace,
}: Principal): Pick<Agent, 'id' | 'workspace'> | undefined {
  if (id === undefined) return undefined;
  return { id, ...(workspace !== undefined && { workspace }) };
}

/** Notes that an agent was seen. A failure is logged and stops nobody. @returns whether it was noted */
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

/** How long an agent may be silent before it is offline: three heartbeats, one of which is expected in a minute. */
const SILENCE_MILLISECONDS = 3 * 60_000;

export function availability({ status, held, configuration, last_failed }: Agent): Availability {
  if (status === 'offline') return 'offline';
  const count = Object.keys(held).length;
  if (count >= configuration.max_concurrent_tasks) return 'busy';
  if (count > 0) return 'active';
  return last_failed ? 'error' : 'idle';
}

/** The agent as it is now, where the sweep has not come by yet since it was last seen. */
export function withPresence(agent: Agent, lastSeen: Date | undefined, now: Date): Agent {
  if (agent.status === 'offline' || lastSeen === undefined) return agent;
  const isGone = now.getTime() - lastSeen.getTime() > SILENCE_MILLISECONDS;
  return { ...agent, last_seen: lastSeen, status: isGone ? 'offline' : 'active' };
}
