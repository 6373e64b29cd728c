/** Ports of the agent rules. */
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
  /** Returns only agents in this workspace. */
  readonly workspace: string;
  readonly availability?: Availability | undefined;
  readonly type?: string | undefined;
  /** Required capabilities, normalized by `foldedCapability`. */
  readonly capabilities: readonly string[];
}

export interface AgentQueries extends CredentialQueries {
  find(agentId: string): Promise<Versioned<Agent> | undefined>;
  /** Returns the existing agents. */
  findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]>;
  /** Returns offline terminals last seen before a time, oldest first. */
  offlineTerminals(before: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Agent>>>;
  /** Returns the number of agents per skill. */
  skillCounts(ids: readonly string[]): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]>;
  /** Returns a credential and its agent, with at most two reads. */
  findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined>;
}

export interface AgentDirectory {
  list(query: AgentQuery, limit: number, after: ListCursor | undefined): Promise<CursorPage<Agent>>;
  /** Returns the number of a workspace's agents in a state that has an index. Idle agents are the rest. */
  count(workspace: string, kind: 'active' | 'busy' | 'error'): Promise<number>;
  /** Returns a workspace's agent counts. */
  counts(workspace: string): Promise<AgentCount>;
  /** Returns agents of a workspace that were active at the last cleanup job. */
  online(workspace: string, limit: number): Promise<ListPage<Agent>>;
  /** Returns a person's agents, ordered by id. */
  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<Agent>>;
  /** Returns ids of agents that lead a workspace. */
  leaders(workspace: string, limit: number): Promise<readonly string[]>;
}

export interface Presence {
  /**
   * Records that the agent was just seen, with a resolution of 30 seconds, or a tenth of its shortest lease. All
   * instances together write at most once in that time. Each one reads at most every 5 seconds.
   * @param home the agent's home workspace, whose members see its presence
   * @param leaseSeconds the lease length of a claim that it has just made
   * @throws Error if it takes longer than a second
   */
  touch(agentId: string, home?: string, leaseSeconds?: number): Promise<void>;
  /** Returns when agents were last seen. Agents without presence are absent. */
  lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Returns at most `limit` agents last seen before `before`, oldest first, with the times. */
  notSeenSince(before: Date, limit: number, after?: TimeCursor): Promise<ReadonlyMap<string, Date>>;
  /** Restores lost presence of an agent, unless it was seen again since `lastSeen`. */
  restore(agentId: string, home: string, lastSeen: Date): Promise<void>;
  /** Deletes an agent's presence, unless it was seen again since `before`. @returns whether it was deleted */
  remove(agentId: string, before: Date): Promise<boolean>;
  /** Writes and reads a probe node. Waits while the database is unreachable. */
  check(): Promise<void>;
}
