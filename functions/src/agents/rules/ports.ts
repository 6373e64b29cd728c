/** What the rules of agents read and write by, and what its store implements. */
import type { Credential } from '../../identity/rules/credential.ts';
import type { CredentialQueries, RolesOfPeople } from '../../identity/rules/ports.ts';
import type { Store, Versioned } from '../../kernel/commit.ts';
import type { Batch, Found, Place, Position, Slice } from '../../kernel/paging.ts';
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
  /** Only agents that are in it. */
  readonly workspace: string;
  readonly availability?: Availability | undefined;
  readonly type?: string | undefined;
  /** All of these, as foldedCapability writes them. */
  readonly capabilities: readonly string[];
}

export interface AgentQueries extends CredentialQueries {
  find(agentId: string): Promise<Versioned<Agent> | undefined>;
  /** Those that there are. */
  findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]>;
  /** Terminals that are offline and were last seen before then, the longest ago first. */
  terminalsGone(before: Date, limit: number, after?: Position): Promise<Batch<Versioned<Agent>>>;
  /** How many agents have each of these skills. */
  skillCounts(
    ids: readonly string[],
  ): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]>;
  /** The credential and the agent that it belongs to, in at most two reads. */
  findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined>;
}

export interface AgentDirectory {
  list(query: AgentQuery, limit: number, after: Place | undefined): Promise<Found<Agent>>;
  /** How many agents of a workspace there are of a kind that is looked up by index; idle agents are the rest. */
  count(workspace: string, kind: 'active' | 'busy' | 'error'): Promise<number>;
  /** How many agents are in a workspace. */
  counts(workspace: string): Promise<AgentCount>;
  /** Agents of a workspace that were alive at the last sweep. */
  live(workspace: string, limit: number): Promise<Slice<Agent>>;
  /** A person's agents, by id. */
  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<Agent>>;
  /** The ids of some agents that lead a workspace. */
  leaders(workspace: string, limit: number): Promise<readonly string[]>;
}

export interface Presence {
  /**
   * Notes that the agent was just seen, within half a minute, or a tenth of its shortest lease. Cheap: at most one write in
   * that time, over all instances, and an instance asks once in five seconds whether another has written.
   * @param home the agent's own workspace, whose members see it
   * @param leaseSeconds the lease with which it has just claimed, if it has
   * @throws Error where that takes longer than a second
   */
  touch(agentId: string, home?: string, leaseSeconds?: number): Promise<void>;
  /** When each of the agents was last seen; an agent never seen, or swept away, is absent. */
  lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** The agents last seen before `before`, longest ago first, at most `limit`, and when that was. */
  unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>>;
  /** Puts back what was lost of an agent that was last seen at `lastSeen`, unless it was seen again meanwhile. */
  restore(agentId: string, home: string, lastSeen: Date): Promise<void>;
  /** Forgets an agent unless it was seen again since `before`. Tells whether it did. */
  forget(agentId: string, before: Date): Promise<boolean>;
  /** Writes and reads beside what it keeps. A database that is away makes it wait. */
  check(): Promise<void>;
}
