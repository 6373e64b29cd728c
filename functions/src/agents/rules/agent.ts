/** Agents and the skills that they declare. Source: docs/semantics.md#one-model. */
import { z } from 'zod/mini';
import type { CredentialChanges, Limits } from '../../identity/rules/credential.ts';
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

/** Capability that agents declare, with the number of agents that have it. */
export type OfferedSkill = ReturnType<typeof skillFromDocument>;

/** Default configuration of an agent: one task at a time. */
export const DEFAULT_CONFIGURATION: Agent['configuration'] = {
  max_concurrent_tasks: 1,
  timeout: 30_000,
  retry_policy: { max_retries: 3, backoff_ms: 1000 },
};

/** Initial activity fields of a new agent. */
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

/** Returns the principal of an agent's credential. */
export function principalOf(
  agent: Agent,
  owner: Principal['owner'],
  { role, toolsets, held_to, readonly }: Limits & { readonly role: Role },
  { grant, lineage }: { readonly [Field in 'grant' | 'lineage']?: Principal[Field] | undefined },
): Principal {
  const home = held_to ?? agent.workspace;
  return {
    uid: agentUid(agent.id),
    kind: 'agent',
    agent_id: agent.id,
    owner_uid: agent.owner_uid,
    maxRole: role,
    owner,
    ...(toolsets && { toolsets }),
    ...(held_to !== undefined && { held_to }),
    ...(readonly && { readonly }),
    ...(home !== undefined && { workspace: home }),
    ...(grant && { grant }),
    ...(lineage && { lineage }),
    ...(agent.has_messages && { has_messages: true }),
  };
}

/** Returns the agent as active and just seen. `active_since` stays if it was active before. */
export function markedSeen(agent: Agent, now: Date): Agent {
  return {
    ...agent,
    status: 'active',
    last_seen: now,
    active_since: agent.active_since ?? now,
    milestones: { seen: now, ...agent.milestones },
  };
}

/** Returns the agent as offline since `lastSeen`. */
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

/** Agent counts of a workspace. The first three only include agents with a part in its coordination. */
export interface AgentCount {
  readonly total: number;
  readonly leaders: number;
  readonly active: number;
  /** Agents with a part in the workspace, plus those whose home it is. */
  readonly registered: number;
  /** Active agents among `registered`. */
  readonly online: number;
}

/** An agent's work on a task that it closed. */
export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** Time from claim to report. */
  readonly milliseconds: number;
}

/** Changes of agents, credentials and skills. */
export interface AgentChanges extends CredentialChanges {
  readonly createAgent: { readonly agent: Agent };
  /** `before`: for the audit log, if a call causes the change. */
  readonly replaceAgent: { readonly agent: Agent; readonly before?: Agent; readonly version: string };
  /** Claim of a task. `agent` already holds the task. */
  readonly holdTask: { readonly agent: Agent; readonly taskId: string; readonly version: string };
  readonly releaseTask: {
    readonly agentId: string;
    readonly taskId: string;
    /** Whether the agent still held the task: an expired lease may have released it. */
    readonly wasHeld: boolean;
    readonly closed?: ClosedWork;
  };
  /** The agent received messages or has read them. */
  readonly setHasMessages: { readonly agentId: string; readonly has_messages: boolean };
  readonly countAgents: { readonly workspace: string; readonly by: AgentCount };
  /** An agent declares a capability. `agents`: increase of the number of agents that have it. */
  readonly offerSkill: { readonly skill: Omit<OfferedSkill, 'agents'>; readonly agents: 0 | 1 };
  /** Decreases the number of agents that have the skill. */
  readonly withdrawSkill: { readonly id: string };
  /** Deletes an agent and its messages. */
  readonly removeAgent: { readonly agent: Agent; readonly version: string };
  /** Deletes a skill that no agent has. */
  readonly removeSkill: { readonly id: string; readonly version: string };
}

/** Returns the workspace of an agent's calls that name none. */
export function homeWorkspaceOf({ workspace }: Pick<Agent, 'workspace'>): string {
  return workspace ?? DEFAULT_WORKSPACE;
}

/** Returns an agent's workspaces: its home, and those in whose coordination it has a part. */
export function workspacesOf(agent: Pick<Agent, 'workspace' | 'parts'>): readonly string[] {
  return [...new Set([homeWorkspaceOf(agent), ...Object.keys(agent.parts)])];
}

export function membershipIn({ parts }: Pick<Agent, 'parts'>, workspace: string): 'leader' | 'worker' | undefined {
  return Object.hasOwn(parts, workspace) ? parts[workspace] : undefined;
}

/** Returns whether an agent is in a workspace. Other agents are hidden from the workspace. */
export function isIn(agent: Pick<Agent, 'workspace' | 'parts'>, workspace: string): boolean {
  return homeWorkspaceOf(agent) === workspace || membershipIn(agent, workspace) !== undefined;
}

/** Limit that keeps an agent's index of capabilities per workspace within one document. */
const MAX_WORKSPACES = 10;

/** Checks the number of workspaces. @throws MusterError QUOTA_EXCEEDED if it grows beyond the maximum */
export function requireWorkspaceLimit(before: Agent | undefined, after: Agent): void {
  const [was, is] = [before === undefined ? 0 : workspacesOf(before).length, workspacesOf(after).length];
  if (is <= MAX_WORKSPACES || is <= was) return;
  throw new MusterError('QUOTA_EXCEEDED', `An agent can be in at most ${MAX_WORKSPACES} workspaces.`, {
    field: 'workspace',
    reason: 'TOO_MANY_WORKSPACES',
    suggestion: 'Register another agent here: coordination.register_agent with a new agent_id creates a terminal.',
  });
}

/** Returns the count changes in an agent's previous and current workspaces. `after`: undefined if it is removed. */
export function countedAgent(before: Agent | undefined, after: Agent | undefined): AgentChange[] {
  return workspacesOfBoth(before, after).flatMap((workspace): AgentChange[] => {
    const by = countIn(workspace, before, after);
    return Object.values(by).some((count) => count !== 0) ? [{ kind: 'countAgents', workspace, by }] : [];
  });
}

/** Like `countedAgent` for several agents, with one change per workspace. */
export function countedAgents(pairs: readonly (readonly [before: Agent, after: Agent])[]): AgentChange[] {
  const sums = new Map<string, AgentCount>();
  for (const [before, after] of pairs)
    for (const workspace of workspacesOfBoth(before, after)) {
      const by = countIn(workspace, before, after);
      const sum = sums.get(workspace);
      sums.set(workspace, sum === undefined ? by : addedCounts(sum, by));
    }
  return [...sums].map(([workspace, by]): AgentChange => ({ kind: 'countAgents', workspace, by }));
}

function addedCounts(one: AgentCount, other: AgentCount): AgentCount {
  return {
    total: one.total + other.total,
    leaders: one.leaders + other.leaders,
    active: one.active + other.active,
    registered: one.registered + other.registered,
    online: one.online + other.online,
  };
}

function workspacesOfBoth(before: Agent | undefined, after: Agent | undefined): readonly string[] {
  return [...new Set([before ?? [], after ?? []].flat().flatMap(workspacesOf))];
}

/** Returns the change of a workspace's counts when an agent changes from `before` to `after`. */
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

/** Whether the agent is the caller, its terminal or its person's agent. Source: docs/semantics.md#permissions. */
export function isOwnAgent({ uid, kind, agent_id }: Principal, agent: Agent): boolean {
  return agent_id === agent.id || agent.registered_by === uid || (kind === 'person' && agent.owner_uid === uid);
}

/** Number of digest digits at the end of a derived id. */
export const DIGEST_DIGITS = 8;

/** Source: kernel/ids.ts, ID. */
const MAX_ID_LENGTH = 100;

/** Returns the id of a caller's terminal if the name is taken by another owner's agent. */
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

/** Normalizes a capability's name for comparison: ignores case, Unicode form and outer spaces. */
export function foldedCapability(name: string): string {
  return name.normalize('NFC').trim().toLowerCase().normalize('NFC');
}

/** Returns the skill changes in an agent's previous and current workspaces. `after` as in `countedAgent`. */
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

/** Returns an agent's capabilities in a workspace by skill id. Of names that differ in case, the first counts. */
function capabilitiesIn(workspace: string, agent: Agent | undefined): ReadonlyMap<string, Capability> {
  const declared = agent !== undefined && isIn(agent, workspace) ? agent.capability_details : [];
  const first = [...declared].reverse();
  return new Map(first.map((capability) => [skillId(workspace, capability.name), capability]));
}

/** Returns a valid Firestore id that is unique to the workspace, because "@" in a name is encoded. */
function skillId(workspace: string, name: string): string {
  const wellFormed = foldedCapability(name).replace(/\p{Surrogate}/gu, '\ufffd');
  const id = `capability.${encodeURIComponent(wellFormed)}`;
  return workspace === DEFAULT_WORKSPACE ? id : `${id}@${workspace}`;
}

/** Capability that agents of a workspace declare: `skills/{id}`. */
export const { toDocument: skillToDocument, fromDocument: skillFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Workspace of the agents. */
    workspace: z._default(z.string(), DEFAULT_WORKSPACE),
    /** Name as written by the agent that declared it last. */
    name: z.string(),
    category: z.string(),
    parameters: z.nullable(jsonText),
    /** Version of that agent. */
    version: z.string(),
    /** Creator of that agent, or its id. */
    author: z.string(),
    /** Number of agents that have the skill. It is deprecated at 0. */
    agents: z.int(),
  }),
);

/** JSON text: Firestore allows no nested arrays and reserves field names. The first version stored an object. */
const parameters = z.codec(z.union([z.string(), z.record(z.string(), z.unknown())]), jsonObject, {
  decode: (kept) => JSON.parse(typeof kept === 'string' ? kept : JSON.stringify(kept)),
  encode: (value) => JSON.stringify(value),
});

export const SERVED_TOOLS = ['owner', 'workspace'] as const;

const MEMBERSHIPS = ['leader', 'worker'] as const;

/** Minimum interval between two writes of an agent's presence, in milliseconds. */
export const MIN_PRESENCE_MS = 1000;

/** Presence of an agent in the Realtime Database. `last_seen` is limited to the range of `Date`. */
export const presenceNode = z.object({
  last_seen: z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15)),
  workspace: z.optional(z.string()),
  within: z.catch(z.optional(z.number().check(z.minimum(MIN_PRESENCE_MS))), undefined),
});

/** Agent document. Fields with a default are missing in documents of early releases. */
export const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(AGENT_TYPES),
  version: z.string(),
  description: z.nullable(z.string()),
  creator: z.nullable(z.string()),
  /** Capabilities. Tasks require them by name. */
  capability_details: z.array(z.object({ name: z.string(), category: z.string(), parameters: z.nullable(parameters) })),
  configuration: z.object({
    max_concurrent_tasks: z.int(),
    /** Milliseconds. */
    timeout: z.int(),
    retry_policy: z.object({ max_retries: z.int(), backoff_ms: z.int() }),
  }),
  owner_uid: z.string(),
  /** Maximum role of its credentials. */
  role: z.enum(ROLES),
  /** Home: the workspace of its calls that name none. */
  workspace: z.nullable(z.string()),
  /** Part in the coordination of each workspace in which it has registered. */
  parts: z._default(z.record(z.string(), z.enum(MEMBERSHIPS)), {}),
  /** For a runner: whether it works for its owner only, or for all workers of its workspace. */
  serves: z._default(z.enum(SERVED_TOOLS), 'owner'),
  /** Whether it has unread messages. */
  has_messages: z._default(z.boolean(), false),
  /** For a terminal: uid of the caller that acts as it. */
  registered_by: z._default(z.nullable(z.string()), null),
  status: z.enum(['active', 'offline']),
  /** Start of its activity; null while it is offline. */
  active_since: z._default(z.nullable(timestamp), null),
  registered_at: timestamp,
  last_seen: timestamp,
  /** Held tasks by id. */
  held: z.record(z.string(), z.object({ session: z.string(), claim_epoch: z.int() })),
  tasks_completed: z.int(),
  tasks_failed: z.int(),
  /** Total time from claim to report of its closed tasks. */
  work_milliseconds: z._default(z.number(), 0),
  /** Whether its last closed task failed. */
  last_failed: z._default(z.boolean(), false),
  last_completed_at: z._default(z.nullable(timestamp), null),
  /** Times of its first onboarding steps. */
  milestones: z._default(
    z.object({
      /** First call by the agent or on its behalf. */
      seen: z.exactOptional(timestamp),
      joined: z.exactOptional(timestamp),
      claimed: z.exactOptional(timestamp),
      /** Completion of a task. Of several before its second claim, the last one. */
      completed: z.exactOptional(timestamp),
    }),
    {},
  ),
});

export const agentCodec = documentCodec(agentDocument);

export const agentFromDocument = agentCodec.fromDocument;

export const AVAILABILITIES = ['active', 'idle', 'busy', 'offline', 'error'] as const;

/**
 * Availability of an agent, derived from its document. `offline`: unseen for three heartbeats. `busy`: holds its
 * maximum number of tasks. `active`: holds fewer. `error`: holds none, and the last closed one failed. `idle`: else.
 * Source: docs/semantics.md#network; the network specification, system.getAgents.
 */
export type Availability = (typeof AVAILABILITIES)[number];
