/** The agents of the one registry, and the skills that they declare. Source: docs/semantics.md#one-model. */
import type { Change } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { agentFromDocument, skillFromDocument } from '../store/agents.ts';
import { type Credential, hasRole, type Principal } from './principal.ts';

export const AGENT_TYPES = ['researcher', 'developer', 'coordinator', 'analyst', 'specialist'] as const;

export type Agent = ReturnType<typeof agentFromDocument>;

export type Capability = Agent['capabilities'][number];

/** A capability that agents declare, and how many agents have it now. */
export type OfferedSkill = ReturnType<typeof skillFromDocument>;

/** How an agent works that says nothing of it: on one task at a time. */
export const USUAL_CONFIGURATION: Agent['configuration'] = {
  maxConcurrentTasks: 1,
  timeout: 30_000,
  retryPolicy: { maxRetries: 3, backoffMs: 1000 },
};

/** The record of an agent that has done nothing yet. */
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
export function holding(agent: Agent, taskId: string, task: Agent['held'][string], now: Date): Agent {
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

/** The work of an agent on a task that it closed. */
export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** From claim to report. */
  readonly milliseconds: number;
}

/** Changes of agents, their credentials and the skills that they declare. */
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
  readonly countAgents: { readonly by: Omit<MemberCount, 'leaders'> };
  readonly issueCredential: { readonly credential: Credential };
  readonly withdrawCredential: { readonly apiKey: string };
  /** An agent declares a capability and describes it; `agents` more have it than before. */
  readonly offerSkill: { readonly skill: Omit<OfferedSkill, 'agents'>; readonly agents: 0 | 1 };
  /** One agent fewer has it. */
  readonly withdrawSkill: { readonly id: string };
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

/** The change of counts by an agent that was `before` and is `after`. */
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

/** The changes of the registry of skills that a registration makes. */
export function skillChanges(before: Agent | undefined, after: Agent): Change[] {
  const [was, is] = [byId(before?.capabilities ?? []), byId(after.capabilities)];
  const offered = [...is].flatMap(([id, capability]): Change[] => {
    const known = was.get(id);
    if (JSON.stringify(known) === JSON.stringify(capability)) return [];
    const skill = { ...capability, id, version: after.version, author: after.creator ?? after.id };
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
