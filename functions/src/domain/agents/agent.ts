/** An agent of the one registry: `agents/{agentId}`. Source: design, sections 1 and 3. */
import type { JsonObject } from '../json.ts';
import type { Role } from '../principal.ts';

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
  readonly registeredAt: Date;
  readonly lastSeen: Date;
  /** The tasks in hand, by id. */
  readonly held: Readonly<Record<string, HeldTask>>;
  readonly tasksCompleted: number;
  readonly tasksFailed: number;
}

/** An agent's id: what its name allows, and never one that Firestore or the Realtime Database reserves. */
export const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
