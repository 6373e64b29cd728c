/** An agent of the one registry: `agents/{agentId}`. Source: docs/semantics.md#one-model. */
import type { Change } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Credential, hasRole, type Principal, type Role } from './principal.ts';

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
interface Milestones {
  /** Its first call, or a call made for it. */
  readonly seen?: Date;
  readonly joined?: Date;
  readonly claimed?: Date;
  /** Of several tasks completed before its second claim, the last. */
  readonly completed?: Date;
}

/** A task in hand. */
interface HeldTask {
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

declare module '../../kernel/commit.ts' {
  interface ChangeKinds extends AgentChanges {}
}

/** Counts an agent in the registry and in the workspaces whose coordination it has a part in. */
export function countedAgent(before: Agent | undefined, after: Agent): Change[] {
  return [...countedInRegistry(before, after), ...countedMember(before, after)];
}

function countedInRegistry(before: Agent | undefined, after: Agent): Change[] {
  const [was, is] = [registryCount(before), registryCount(after)];
  const by = { total: is.total - was.total, active: is.active - was.active };
  return by.total !== 0 || by.active !== 0 ? [{ kind: 'countAgents', by }] : [];
}

function registryCount(agent: Agent | undefined): RegistryCount {
  return { total: agent === undefined ? 0 : 1, active: agent?.status === 'active' ? 1 : 0 };
}

function countedMember(before: Agent | undefined, after: Agent): Change[] {
  const workspaces = new Set([before?.workspace, after.workspace]);
  return [...workspaces].flatMap((workspace) => {
    if (workspace === undefined) return [];
    const [was, is] = [memberCount(before, workspace), memberCount(after, workspace)];
    const by = {
      total: is.total - was.total,
      leaders: is.leaders - was.leaders,
      active: is.active - was.active,
    };
    const changed = by.total !== 0 || by.leaders !== 0 || by.active !== 0;
    return changed ? [{ kind: 'countMembers', workspace, by } as const] : [];
  });
}

function memberCount(agent: Agent | undefined, workspace: string): MemberCount {
  if (agent?.coordinationRole === undefined || agent.workspace !== workspace) {
    return { total: 0, leaders: 0, active: 0 };
  }
  return {
    total: 1,
    leaders: agent.coordinationRole === 'leader' ? 1 : 0,
    active: agent.status === 'active' ? 1 : 0,
  };
}

// Who may act as which agent. Source: docs/semantics.md#who-may-do-what.

/**
 * Lets a caller act as an agent: as itself, as any agent for leaders and admins, as an own one for people.
 * @throws MusterError FORBIDDEN
 */
export function authoriseActing(principal: Principal, agentId: string, agent: Agent | undefined): void {
  if (principal.agentId === agentId || hasRole(principal.role, 'leader')) return;
  if (principal.kind === 'person' && agent?.ownerUid === principal.uid) return;
  throw forbiddenToAct(principal, agentId);
}

export function forbiddenToAct(principal: Principal, agentId: string): MusterError {
  const own = principal.agentId === undefined ? '' : ` You are "${principal.agentId}".`;
  return new MusterError('FORBIDDEN', `You may not act as agent "${agentId}".${own}`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Use your own agent id; only a leader or an admin acts for another agent.',
  });
}

// Errors for what the caller names and does not exist, or is not the caller's to see.

export function agentNotRegistered(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `Agent "${agentId}" is not registered.`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Call register_agent first.',
  });
}

/** A capability's name as names are compared: case does not count. */
export function foldedCapability(name: string): string {
  return name.toLowerCase();
}
