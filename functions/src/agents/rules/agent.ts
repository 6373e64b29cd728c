/** Agents, and the skills that they offer. Source: docs/semantics.md#one-model. */
import { z } from 'zod/mini';
import { type CredentialChanges, type Limits, limitsOf } from '../../identity/rules/credential.ts';
import { agentUid, DEFAULT_WORKSPACE, type Principal } from '../../identity/rules/principal.ts';
import { ROLES, type Role } from '../../identity/rules/role.ts';
import type { ChangeOf } from '../../kernel/commit.ts';
import { documentCodec, jsonObject, jsonText, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { Hashing } from '../../kernel/ports.ts';

export type AgentChange = ChangeOf<AgentChanges>;

export const AGENT_TYPES = ['researcher', 'developer', 'coordinator', 'analyst', 'specialist'] as const;

export type Agent = ReturnType<typeof agentFromDocument>;
export type Capability = Agent['capability_details'][number];

/** Capability that agents of a workspace have, with the number of these agents. */
export type OfferedSkill = ReturnType<typeof skillFromDocument>;

/** Configuration of an agent that sends none at registration: one task at a time. */
export const DEFAULT_CONFIGURATION: Agent['configuration'] = {
  max_concurrent_tasks: 1,
  timeout: 30_000,
  retry_policy: { max_retries: 3, backoff_ms: 1000 },
};

/** Fields about the activity of an agent that has done nothing yet. */
export const NO_METRICS = {
  held: {},
  tasks_completed: 0,
  tasks_failed: 0,
  work_milliseconds: 0,
  last_failed: false,
  parts: {},
  serves: 'owner',
  milestones: {},
  has_messages: false,
} as const satisfies Partial<Agent>;

/** Returns the principal of calls that are made with an agent's credential. */
export function principalOf(
  agent: Agent,
  owner: Principal['owner'],
  opens: Limits & { readonly role: Role },
  { grant, lineage }: { readonly [Field in 'grant' | 'lineage']?: Principal[Field] | undefined },
): Principal {
  const home = opens.held_to ?? agent.workspace;
  return {
    uid: agentUid(agent.id),
    kind: 'agent',
    agent_id: agent.id,
    owner_uid: agent.owner_uid,
    maxRole: opens.role,
    owner,
    ...limitsOf(opens),
    ...(home !== undefined && { workspace: home }),
    ...(grant && { grant }),
    ...(lineage && { lineage }),
    ...(agent.has_messages && { has_messages: true }),
  };
}

/** Returns the agent with the status active, last seen now. An active agent keeps its `active_since`. */
export function markedSeen(agent: Agent, now: Date): Agent {
  return {
    ...agent,
    status: 'active',
    last_seen: now,
    active_since: agent.active_since ?? now,
    milestones: { seen: now, ...agent.milestones },
  };
}

/** Returns the agent as offline and last seen at `lastSeen`. */
export function markedOffline(agent: Agent, lastSeen: Date): Agent {
  const { active_since: _ended, ...rest } = agent;
  return { ...rest, status: 'offline', last_seen: lastSeen };
}

/** Returns the agent after it claims a task. */
export function withHeldTask(agent: Agent, taskId: string, task: Agent['held'][string], now: Date): Agent {
  const { claimed, completed = agent.last_completed_at } = agent.milestones;
  const seen = markedSeen(agent, now);
  return {
    ...seen,
    held: { ...agent.held, [taskId]: task },
    milestones: { ...seen.milestones, claimed: claimed ?? now, ...(completed && { completed }) },
  };
}

export type AgentCount = ReturnType<typeof agentCountFromDocument>;

export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** Time from the claim to the report, in milliseconds. */
  readonly milliseconds: number;
}

export interface AgentChanges extends CredentialChanges {
  readonly createAgent: { readonly agent: Agent };
  /** `before` is the agent before the change, for the audit log. It is set if a call causes the change. */
  readonly replaceAgent: { readonly agent: Agent; readonly before?: Agent; readonly version: string };
  /** The agent claimed a task. `agent` is the agent with the task among its held tasks. */
  readonly holdTask: { readonly agent: Agent; readonly taskId: string; readonly version: string };
  readonly releaseTask: {
    readonly agentId: string;
    readonly taskId: string;
    /** Whether the agent still held the task. It did not if the task was released when the lease expired. */
    readonly wasHeld: boolean;
    readonly closed?: ClosedWork;
  };
  /** The agent has received messages, or has read all of them. */
  readonly setHasMessages: { readonly agentId: string; readonly has_messages: boolean };
  readonly countAgents: { readonly workspace: string; readonly by: AgentCount };
  /** An agent offers a skill. `agents` is 1 if the number of agents that have the skill increases, otherwise 0. */
  readonly offerSkill: { readonly skill: Omit<OfferedSkill, 'agents'>; readonly agents: 0 | 1 };
  /** An agent no longer offers the skill, so the number of agents that have it decreases by 1. */
  readonly withdrawSkill: { readonly id: string };
  /** Deletes an agent, and the messages to it. */
  readonly removeAgent: { readonly agent: Agent; readonly version: string };
  /** Deletes a skill that no agent has. */
  readonly removeSkill: { readonly id: string; readonly version: string };
}

/** Returns the workspace of an agent's calls that do not name a workspace. */
export function homeWorkspaceOf({ workspace }: Pick<Agent, 'workspace'>): string {
  return workspace ?? DEFAULT_WORKSPACE;
}

/** Returns an agent's workspaces: its home, and those in which it has registered for coordination. */
export function workspacesOf(agent: Pick<Agent, 'workspace' | 'parts'>): readonly string[] {
  return [...new Set([homeWorkspaceOf(agent), ...Object.keys(agent.parts)])];
}

export function membershipIn({ parts }: Pick<Agent, 'parts'>, workspace: string): 'leader' | 'worker' | undefined {
  return Object.hasOwn(parts, workspace) ? parts[workspace] : undefined;
}

/** Returns whether an agent belongs to a workspace. Callers in a workspace see only the agents that belong to it. */
export function isIn(agent: Pick<Agent, 'workspace' | 'parts'>, workspace: string): boolean {
  return homeWorkspaceOf(agent) === workspace || membershipIn(agent, workspace) !== undefined;
}

/** Maximum number of workspaces of an agent, because one document indexes its capabilities in all of them. */
const MAX_WORKSPACES = 10;

/** Checks an agent's number of workspaces. @throws MusterError QUOTA_EXCEEDED if it grows beyond the maximum */
export function requireWorkspaceLimit(before: Agent | undefined, after: Agent): void {
  const [was, is] = [before === undefined ? 0 : workspacesOf(before).length, workspacesOf(after).length];
  if (is <= MAX_WORKSPACES || is <= was) return;
  throw new MusterError('QUOTA_EXCEEDED', `An agent can be in at most ${MAX_WORKSPACES} workspaces.`, {
    field: 'workspace',
    reason: 'TOO_MANY_WORKSPACES',
    suggestion: 'To use another agent here, create a terminal with coordination.register_agent and a new agent_id.',
  });
}

/** Returns the changes of agent counts in all affected workspaces. `after` is undefined if the agent is deleted. */
export function countedAgent(before: Agent | undefined, after: Agent | undefined): AgentChange[] {
  return workspacesOfBoth(before, after).flatMap((workspace): AgentChange[] => {
    const by = countIn(workspace, before, after);
    return Object.values(by).some((count) => count !== 0) ? [{ kind: 'countAgents', workspace, by }] : [];
  });
}

/** Like `countedAgent` for several agents, with one change for each affected workspace. */
export function countedAgents(pairs: readonly (readonly [before: Agent, after: Agent])[]): AgentChange[] {
  const sums = new Map<string, AgentCount>();
  for (const [before, after] of pairs)
    for (const workspace of workspacesOfBoth(before, after)) {
      const by = countIn(workspace, before, after);
      const sum = sums.get(workspace);
      sums.set(workspace, sum === undefined ? by : sumAgents([sum, by]));
    }
  return [...sums].map(([workspace, by]): AgentChange => ({ kind: 'countAgents', workspace, by }));
}

/** Adds up the shards of a workspace's agent counts, or changes of the counts. */
export function sumAgents(shards: readonly AgentCount[]): AgentCount {
  const sum = (count: keyof AgentCount): number => shards.reduce((total, shard) => total + shard[count], 0);
  return {
    total: sum('total'),
    leaders: sum('leaders'),
    active: sum('active'),
    registered: sum('registered'),
    online: sum('online'),
  };
}

function workspacesOfBoth(before: Agent | undefined, after: Agent | undefined): readonly string[] {
  return [...new Set([before ?? [], after ?? []].flat().flatMap(workspacesOf))];
}

/** Returns how a workspace's agent counts change when an agent changes from `before` to `after`. */
function countIn(workspace: string, before: Agent | undefined, after: Agent | undefined): AgentCount {
  const change = (counts: (agent: Agent) => boolean): number =>
    Number(after !== undefined && counts(after)) - Number(before !== undefined && counts(before));
  const isActive = ({ status }: Agent): boolean => status === 'active';
  const hasPart = (agent: Agent): boolean => membershipIn(agent, workspace) !== undefined;
  return {
    total: change(hasPart),
    leaders: change((agent) => membershipIn(agent, workspace) === 'leader'),
    active: change((agent) => hasPart(agent) && isActive(agent)),
    registered: change((agent) => isIn(agent, workspace)),
    online: change((agent) => isIn(agent, workspace) && isActive(agent)),
  };
}

/** Returns whether the agent is the caller itself, its terminal, or an agent of the calling person. */
export function isOwnAgent({ uid, kind, agent_id }: Principal, agent: Agent): boolean {
  return agent_id === agent.id || agent.registered_by === uid || (kind === 'person' && agent.owner_uid === uid);
}

/** Number of hexadecimal digits of a digest at the end of a derived id. */
export const DIGEST_DIGITS = 8;

/** Maximum length of an id, as in the pattern ID of kernel/ids.ts. */
const MAX_ID_LENGTH = 100;

/** Returns an id for a caller's terminal `name`, for the case that another owner's agent has the id `name`. */
export function terminalId(hashing: Hashing, { uid }: Principal, name: string): string {
  const digest = hashing.sha256(`${uid}\n${name}`).slice(0, DIGEST_DIGITS);
  return `${name.slice(0, MAX_ID_LENGTH - DIGEST_DIGITS - 1)}-${digest}`;
}

export function notAllowedToAct(principal: Principal, agentId: string): MusterError {
  const own = principal.agent_id === undefined ? '' : ` You are "${principal.agent_id}".`;
  return new MusterError('FORBIDDEN', `You cannot act as agent "${agentId}".${own}`, {
    field: 'agent_id',
    value: agentId,
    suggestion:
      'Use your own agent id or a terminal that you registered. Leaders can act for agents of their workspace.',
  });
}

export function agentNotRegistered(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `Agent "${agentId}" is not registered.`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Call coordination.register_agent first.',
  });
}

/** Normalizes a capability's name, so that names differing in case, Unicode form or outer spaces are equal. */
export function foldedCapability(name: string): string {
  return name.normalize('NFC').trim().toLowerCase().normalize('NFC');
}

/** Returns whether only Muster gives this capability, so that no agent can declare it and no task can require it. */
export function isReservedCapability(name: string): boolean {
  return foldedCapability(name).startsWith('muster:');
}

/** Returns the changes of an agent's skills in its workspaces. `after` is undefined if the agent is deleted. */
export function skillChanges(before: Agent | undefined, after: Agent | undefined): AgentChange[] {
  return workspacesOfBoth(before, after).flatMap((workspace) => {
    const [was, is] = [capabilitiesIn(workspace, before), capabilitiesIn(workspace, after)];
    const offered = [...is].flatMap(([id, capability]): AgentChange[] => {
      const known = was.get(id);
      if (after === undefined || JSON.stringify(known) === JSON.stringify(capability)) return [];
      const { version, creator: author = after.id } = after;
      const skill = { ...capability, id, workspace, version, author };
      return [{ kind: 'offerSkill', skill, agents: known === undefined ? 1 : 0 }];
    });
    const withdrawn = [...was.keys()].filter((id) => !is.has(id));
    return [...offered, ...withdrawn.map((id): AgentChange => ({ kind: 'withdrawSkill', id }))];
  });
}

/** Returns an agent's capabilities in a workspace, by skill id. If names differ only in case, the first is used. */
function capabilitiesIn(workspace: string, agent: Agent | undefined): ReadonlyMap<string, Capability> {
  const declared = agent !== undefined && isIn(agent, workspace) ? agent.capability_details : [];
  const first = [...declared].reverse();
  return new Map(first.map((capability) => [skillId(workspace, capability.name), capability]));
}

/** Returns the id of a skill in a workspace. It is a valid Firestore id, and "@" separates name and workspace. */
function skillId(workspace: string, name: string): string {
  const wellFormed = foldedCapability(name).replace(/\p{Surrogate}/gu, '\ufffd');
  const id = `capability.${encodeURIComponent(wellFormed)}`;
  return workspace === DEFAULT_WORKSPACE ? id : `${id}@${workspace}`;
}

/** Capability that agents of a workspace offer, stored as `skills/{id}`. */
export const { toDocument: skillToDocument, fromDocument: skillFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    workspace: z._default(z.string(), DEFAULT_WORKSPACE),
    /** Name as written by the agent that offered the skill last. */
    name: z.string(),
    category: z.string(),
    parameters: z.nullable(jsonText),
    /** Version of the agent that offered the skill last. */
    version: z.string(),
    /** Creator of the agent that offered the skill last; the agent's id if the agent states no creator. */
    author: z.string(),
    /** Number of agents that offer the skill. If the number is 0, the skill is deprecated. */
    agents: z.int(),
  }),
);

/** JSON text, because Firestore has no nested arrays and reserves some names. Old documents contain an object. */
const parameters = z.codec(z.union([z.string(), z.record(z.string(), z.unknown())]), jsonObject, {
  decode: (kept) => JSON.parse(typeof kept === 'string' ? kept : JSON.stringify(kept)),
  encode: (value) => JSON.stringify(value),
});

export const SERVED_TOOLS = ['owner', 'workspace'] as const;
const MEMBERSHIPS = ['leader', 'worker'] as const;

/** Minimum time between two writes of an agent's presence, in milliseconds. */
export const MIN_PRESENCE_MS = 1000;

/** Presence of an agent in the Realtime Database. `last_seen` must be a time that `Date` can represent. */
export const presenceNode = z.object({
  last_seen: z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15)),
  workspace: z.optional(z.string()),
  within: z.catch(z.optional(z.number().check(z.minimum(MIN_PRESENCE_MS))), undefined),
});

/** Agent document. Documents of early releases lack the fields that have a default. */
export const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(AGENT_TYPES),
  version: z.string(),
  description: z.nullable(z.string()),
  creator: z.nullable(z.string()),
  /** Capabilities of the agent. A task states the names of the capabilities that it requires. */
  capability_details: z.array(z.object({ name: z.string(), category: z.string(), parameters: z.nullable(parameters) })),
  configuration: z.object({
    max_concurrent_tasks: z.int(),
    /** In milliseconds. */
    timeout: z.int(),
    retry_policy: z.object({ max_retries: z.int(), backoff_ms: z.int() }),
  }),
  owner_uid: z.string(),
  role: z.enum(ROLES),
  /** Home workspace, which applies to calls that do not name a workspace. */
  workspace: z.nullable(z.string()),
  /** Role of the agent in each workspace in which it has registered for coordination. */
  parts: z._default(z.record(z.string(), z.enum(MEMBERSHIPS)), {}),
  /** For a runner: whether it claims only tasks of its owner, or tasks of all workers in its workspace. */
  serves: z._default(z.enum(SERVED_TOOLS), 'owner'),
  has_messages: z._default(z.boolean(), false),
  /** For a terminal: uid of the caller that registered it and acts for it. */
  registered_by: z._default(z.nullable(z.string()), null),
  status: z.enum(['active', 'offline']),
  /** Time since which the agent is active; null while it is offline. */
  active_since: z._default(z.nullable(timestamp), null),
  registered_at: timestamp,
  last_seen: timestamp,
  held: z.record(z.string(), z.object({ session: z.string(), claim_epoch: z.int() })),
  tasks_completed: z.int(),
  tasks_failed: z.int(),
  /** Sum of the times from claim to report, for all tasks that the agent closed. */
  work_milliseconds: z._default(z.number(), 0),
  /** Whether the task that the agent closed last has failed. */
  last_failed: z._default(z.boolean(), false),
  last_completed_at: z._default(z.nullable(timestamp), null),
  /** Times at which the agent completed its first onboarding steps. */
  milestones: z._default(
    z.object({
      /** Time of the first call that the agent made or that was made for it. */
      seen: z.exactOptional(timestamp),
      joined: z.exactOptional(timestamp),
      claimed: z.exactOptional(timestamp),
      /** Time at which one of the first tasks was completed. Set at the next claim, and never changed afterwards. */
      completed: z.exactOptional(timestamp),
    }),
    {},
  ),
});

export const agentCodec = documentCodec(agentDocument);
export const agentFromDocument = agentCodec.fromDocument;

/** Shard of a workspace's agent counts. The first three count only agents of coordination.register_agent. */
export const { fromDocument: agentCountFromDocument } = documentCodec(
  z.object({
    total: z._default(z.int(), 0),
    leaders: z._default(z.int(), 0),
    active: z._default(z.int(), 0),
    /** Number of agents that registered in the workspace or have it as their home. */
    registered: z._default(z.int(), 0),
    online: z._default(z.int(), 0),
  }),
);

export const AVAILABILITIES = ['active', 'idle', 'busy', 'offline', 'error'] as const;

/**
 * Availability of an agent. `offline`: not seen for three heartbeats. `busy`: holds its maximum number of tasks.
 * `active`: holds at least one. `error`: holds none, and the last task it closed failed. `idle`: otherwise. Source:
 * docs/semantics.md#network; the network specification, system.getAgents.
 */
export type Availability = (typeof AVAILABILITIES)[number];
