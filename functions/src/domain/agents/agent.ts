/** An agent of the one registry: `agents/{agentId}`. Source: docs/semantics.md#one-model. */

import type { JsonObject } from '../json.ts';
import type { Role } from '../principal.ts';
import type { Credential } from './credential.ts';

export const AGENT_TYPES = ['researcher', 'developer', 'coordinator', 'analyst', 'specialist'] as const;

export type AgentType = (typeof AGENT_TYPES)[number];

/** What an agent can do. Tasks require capabilities by name. */
export interface Capability {
  readonly name: string;
  readonly category: string;
  readonly parameters?: JsonObject;
}

export interface AgentConfiguration {
  readonly maxConcurrentTasks: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly retryPolicy: { readonly maxRetries: number; readonly backoffMs: number };
}

/** How an agent works that says nothing of it: on one task at a time. */
export const USUAL_CONFIGURATION: AgentConfiguration = {
  maxConcurrentTasks: 1,
  timeout: 30_000,
  retryPolicy: { maxRetries: 3, backoffMs: 1000 },
};

/** When it first did what every new agent is asked to do. */
export interface Milestones {
  /** Its first call, or a call made for it. */
  readonly seen?: Date;
  readonly joined?: Date;
  readonly claimed?: Date;
  /** Of several tasks completed before its second claim, the last. */
  readonly completed?: Date;
}

/** A task in hand. */
export interface HeldTask {
  readonly session: string;
  readonly epoch: number;
}

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly type: AgentType;
  readonly version: string;
  readonly description?: string;
  readonly creator?: string;
  readonly capabilities: readonly Capability[];
  readonly configuration: AgentConfiguration;
  readonly ownerUid: string;
  /** What its credential allows. */
  readonly role: Role;
  readonly workspace?: string;
  /** Its part in its workspace's coordination, once it has registered there. */
  readonly coordinationRole?: 'leader' | 'worker';
  readonly status: 'active' | 'offline';
  /** Since when it is active, while it is. */
  readonly activeSince?: Date;
  readonly registeredAt: Date;
  readonly lastSeen: Date;
  /** The tasks in hand, by id. */
  readonly held: Readonly<Record<string, HeldTask>>;
  readonly tasksCompleted: number;
  readonly tasksFailed: number;
  /** How long it worked on the tasks that it has closed, from claim to report. */
  readonly workMilliseconds: number;
  /** Whether the last task that it closed failed. */
  readonly lastFailed: boolean;
  readonly lastCompletedAt?: Date;
  readonly milestones: Milestones;
}

/** What an agent that has done nothing yet has to show. */
export const NOTHING_DONE = {
  held: {},
  tasksCompleted: 0,
  tasksFailed: 0,
  workMilliseconds: 0,
  lastFailed: false,
  milestones: {},
} as const satisfies Partial<Agent>;

/** An agent that was just seen: active, since now unless it was before. */
export function seenAt(agent: Agent, now: Date): Agent {
  return {
    ...agent,
    status: 'active',
    lastSeen: now,
    activeSince: agent.activeSince ?? now,
    milestones: { seen: now, ...agent.milestones },
  };
}

/** An agent that nobody has heard of since `lastSeen`. */
export function goneSince(agent: Agent, lastSeen: Date): Agent {
  const { activeSince: _ended, ...rest } = agent;
  return { ...rest, status: 'offline', lastSeen };
}

/** An agent as the claim of a task leaves it. */
export function holding(agent: Agent, taskId: string, task: HeldTask, now: Date): Agent {
  const { claimed, completed = agent.lastCompletedAt } = agent.milestones;
  const seen = seenAt(agent, now);
  return {
    ...seen,
    held: { ...agent.held, [taskId]: task },
    milestones: { ...seen.milestones, claimed: claimed ?? now, ...(completed && { completed }) },
  };
}

/** How many agents have a part in a workspace's coordination. */
export interface MemberCount {
  readonly total: number;
  readonly leaders: number;
  readonly active: number;
}

/** How many agents there are, and how many of them are active. */
export interface RegistryCount {
  readonly total: number;
  readonly active: number;
}

/** What an agent did on a task that it closed. */
export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** From claim to report. */
  readonly milliseconds: number;
}

/** What commits may change of agents and their credentials. */
export interface AgentChanges {
  readonly createAgent: { readonly agent: Agent };
  readonly replaceAgent: { readonly agent: Agent; readonly version: string };
  /** The agent as the claim leaves it, the task among those that it holds. */
  readonly holdTask: { readonly agent: Agent; readonly taskId: string; readonly version: string };
  readonly dropTask: {
    readonly agentId: string;
    readonly taskId: string;
    /** Whether it still held the task: a lease that lapsed had taken it away. */
    readonly wasHeld: boolean;
    readonly closed?: ClosedWork;
  };
  readonly countMembers: { readonly workspace: string; readonly by: MemberCount };
  readonly countAgents: { readonly by: RegistryCount };
  readonly issueCredential: { readonly credential: Credential };
  readonly withdrawCredential: { readonly apiKey: string };
}

declare module '../store.ts' {
  interface ChangeKinds extends AgentChanges {}
}
