/** Ports of the agent rules, implemented by their stores. */
import type { Credential } from '../../identity/rules/credential.ts';
import type { CredentialQueries, RolesOfPeople } from '../../identity/rules/ports.ts';
import type { Store, Versioned } from '../../kernel/commit.ts';
import type { CursorPage, ListCursor, ListPage, SweepBatch, TimeCursor } from '../../kernel/paging.ts';
import type { KernelPorts } from '../../kernel/ports.ts';
import type { Agent, AgentChange, AgentCount, Availability } from './agent.ts';

export interface AgentPorts extends KernelPorts {
  readonly store: Store<AgentChange>;
  readonly agents: AgentQueries;
  readonly directory: AgentDirectory;
  readonly presence: Presence;
  readonly roles: RolesOfPeople;
}

export interface AgentQuery {
  readonly workspace: string;
  readonly availability?: Availability | undefined;
  readonly type?: string | undefined;
  /** Capabilities that the agents must have, normalized by `foldedCapability`. */
  readonly capabilities: readonly string[];
}

export interface AgentQueries extends CredentialQueries {
  find(agentId: string): Promise<Versioned<Agent> | undefined>;
  /** Returns the agents with these ids. Ids without an agent are omitted. */
  findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]>;
  /** Returns offline terminals that were last seen before a time, in the order of these times. */
  offlineTerminals(before: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Agent>>>;
  skillCounts(ids: readonly string[]): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]>;
  /** Returns a credential and its agent. This takes at most two reads. */
  findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined>;
}

export interface AgentDirectory {
  list(query: AgentQuery, limit: number, after: ListCursor | undefined): Promise<CursorPage<Agent>>;
  /** Returns how many agents of a workspace are active, busy or in error. All other online agents are idle. */
  count(workspace: string, kind: 'active' | 'busy' | 'error'): Promise<number>;
  counts(workspace: string): Promise<AgentCount>;
  /** Returns agents of a workspace that were still active after the last sweep. */
  online(workspace: string, limit: number): Promise<ListPage<Agent>>;
  /** Returns the agents of a person, in the order of their ids. */
  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<Agent>>;
  leaders(workspace: string, limit: number): Promise<readonly string[]>;
  /** Returns the names, in lower case, of capabilities that agents of a workspace have and that start with `prefix`. */
  capabilitiesFrom(workspace: string, prefix: string, limit: number): Promise<readonly string[]>;
}

export interface Presence {
  /**
   * Records that the agent was just seen, once per 30 seconds or per tenth of its shortest lease. Within this
   * interval, all instances together write at most once, and each instance reads at most every 5 seconds.
   * @param home home workspace of the agent, whose members can see when the agent was last seen
   * @param leaseSeconds length of the lease, if the agent has just claimed a task
   * @throws Error if the database does not respond within a second
   */
  touch(agentId: string, home?: string, leaseSeconds?: number): Promise<void>;
  /** Returns when agents were last seen. Agents without a stored time are omitted. */
  lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Returns at most `limit` agents last seen before `before`, oldest first, each with its last-seen time. */
  notSeenSince(before: Date, limit: number, after?: TimeCursor): Promise<ReadonlyMap<string, Date>>;
  /** Restores the lost presence of an agent, unless the agent was seen after `lastSeen`. */
  restore(agentId: string, home: string, lastSeen: Date): Promise<void>;
  /** Deletes an agent's presence, unless the agent was seen after `before`. @returns whether it was deleted */
  remove(agentId: string, before: Date): Promise<boolean>;
  /** Writes and reads a probe node. While the database is unreachable, the call stays pending. */
  check(): Promise<void>;
}
