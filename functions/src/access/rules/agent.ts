/** The agents of the one registry, and the skills that they declare. Source: docs/semantics.md#one-model. */
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
  const { leaders: _none, ...by } = difference(before, after);
  const inRegistry: Change[] = by.total !== 0 || by.active !== 0 ? [{ kind: 'countAgents', by }] : [];
  const members = [...new Set([before?.workspace, after.workspace])].flatMap((workspace): Change[] => {
    if (workspace === undefined) return [];
    const memberOf = (agent: Agent | undefined) =>
      agent?.coordinationRole !== undefined && agent.workspace === workspace ? agent : undefined;
    const by = difference(memberOf(before), memberOf(after));
    return Object.values(by).some((count) => count !== 0) ? [{ kind: 'countMembers', workspace, by }] : [];
  });
  return [...inRegistry, ...members];
}

/** What an agent adds to counts in which it was `before` and is `after`. */
function difference(before: Agent | undefined, after: Agent | undefined): MemberCount {
  const change = (counts: (agent: Agent) => boolean): number =>
    Number(after !== undefined && counts(after)) - Number(before !== undefined && counts(before));
  return {
    total: change(() => true),
    leaders: change(({ coordinationRole }) => coordinationRole === 'leader'),
    active: change(({ status }) => status === 'active'),
  };
}

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

/** A capability that agents declare: `skills/{id}`. */
export interface CapabilitySkill {
  readonly id: string;
  /** As the agent wrote it that declared it last. */
  readonly name: string;
  readonly category: string;
  readonly parameters?: JsonObject;
  /** That agent's version. */
  readonly version: string;
  /** Who made that agent, or its id. */
  readonly author: string;
}

/** What commits may change of skills. */
export interface SkillChanges {
  /** An agent declares a capability and describes it; `agents` more have it than before. */
  readonly offerSkill: { readonly skill: CapabilitySkill; readonly agents: 0 | 1 };
  /** One agent fewer has it. */
  readonly withdrawSkill: { readonly id: string };
}

declare module '../../kernel/commit.ts' {
  interface ChangeKinds extends SkillChanges {}
}

/** What registering changes in the registry of skills: nothing where it is as it was. */
export function skillChanges(before: Agent | undefined, after: Agent): Change[] {
  const [was, is] = [byId(before?.capabilities ?? []), byId(after.capabilities)];
  const offered = [...is].flatMap(([id, capability]): Change[] => {
    const known = was.get(id);
    if (known !== undefined && isSame(known, capability)) return [];
    const { name, category, parameters } = capability;
    const author = after.creator ?? after.id;
    const skill = { id, name, category, version: after.version, author, ...(parameters && { parameters }) };
    return [{ kind: 'offerSkill', skill, agents: known === undefined ? 1 : 0 }];
  });
  const withdrawn = [...was.keys()].filter((id) => !is.has(id));
  return [...offered, ...withdrawn.map((id): Change => ({ kind: 'withdrawSkill', id }))];
}

/** Names that differ in case only are one capability; the first of them is taken. */
function byId(capabilities: readonly Capability[]): ReadonlyMap<string, Capability> {
  const first = [...capabilities].reverse();
  return new Map(first.map((capability) => [skillId(capability.name), capability]));
}

/** An id that Firestore takes, whatever the name. */
function skillId(name: string): string {
  const wellFormed = foldedCapability(name).replace(/\p{Surrogate}/gu, '\ufffd');
  return `capability.${encodeURIComponent(wellFormed)}`;
}

function isSame(one: Capability, other: Capability): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A capability and how many agents have it now. */
export type OfferedSkill = CapabilitySkill & { readonly agents: number };
