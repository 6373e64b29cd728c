/** The agents of the one registry, and the skills that they declare. Source: docs/semantics.md#one-model. */
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

/** A capability that agents declare, and how many agents have it now. */
export type OfferedSkill = ReturnType<typeof skillFromDocument>;

/** How an agent works that says nothing of it: on one task at a time. */
export const USUAL_CONFIGURATION: Agent['configuration'] = {
  max_concurrent_tasks: 1,
  timeout: 30_000,
  retry_policy: { max_retries: 3, backoff_ms: 1000 },
};

/** The record of an agent that has done nothing yet. */
export const NOTHING_DONE = {
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

/** Who calls with a credential of the agent. */
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

/** An agent that was just seen: active, since now unless it was before. */
export function seenAt(agent: Agent, now: Date): Agent {
  return {
    ...agent,
    status: 'active',
    last_seen: now,
    active_since: agent.active_since ?? now,
    milestones: { seen: now, ...agent.milestones },
  };
}

/** An agent that nobody has heard of since `lastSeen`. */
export function goneSince(agent: Agent, lastSeen: Date): Agent {
  const { active_since: _ended, ...rest } = agent;
  return { ...rest, status: 'offline', last_seen: lastSeen };
}

/** An agent as the claim of a task leaves it. */
export function holding(agent: Agent, taskId: string, task: Agent['held'][string], now: Date): Agent {
  const { claimed, completed = agent.last_completed_at } = agent.milestones;
  const seen = seenAt(agent, now);
  return {
    ...seen,
    held: { ...agent.held, [taskId]: task },
    milestones: { ...seen.milestones, claimed: claimed ?? now, ...(completed && { completed }) },
  };
}

/** How many agents are in a workspace. The first three are of those that have a part in its coordination. */
export interface AgentCount {
  readonly total: number;
  readonly leaders: number;
  readonly active: number;
  /** With those whose home it is, whether or not they have a part. */
  readonly registered: number;
  /** Those of them that are active. */
  readonly online: number;
}

/** The work of an agent on a task that it closed. */
export interface ClosedWork {
  readonly status: 'done' | 'failed';
  readonly at: Date;
  /** From claim to report. */
  readonly milliseconds: number;
}

/** Changes of agents, their credentials and the skills that they declare. */
export interface AgentChanges extends CredentialChanges {
  readonly createAgent: { readonly agent: Agent };
  /** With `before` where a call changes it, so that the trail tells of it. */
  readonly replaceAgent: { readonly agent: Agent; readonly before?: Agent; readonly version: string };
  /** The agent as the claim leaves it, the task among those that it holds. */
  readonly holdTask: { readonly agent: Agent; readonly taskId: string; readonly version: string };
  readonly dropTask: {
    readonly agentId: string;
    readonly taskId: string;
    /** Whether it still held the task: a lease that lapsed had taken it away. */
    readonly wasHeld: boolean;
    readonly closed?: ClosedWork;
  };
  /** Messages to the agent have come, or it has read them. */
  readonly noteMessages: { readonly agentId: string; readonly has_messages: boolean };
  readonly countAgents: { readonly workspace: string; readonly by: AgentCount };
  /** An agent declares a capability and describes it; `agents` more have it than before. */
  readonly offerSkill: { readonly skill: Omit<OfferedSkill, 'agents'>; readonly agents: 0 | 1 };
  /** One agent fewer has it. */
  readonly withdrawSkill: { readonly id: string };
  /** An agent is forgotten, with what was written to it. */
  readonly removeAgent: { readonly agent: Agent; readonly version: string };
  /** No agent has it any more, nor is it remembered that one had it. */
  readonly removeSkill: { readonly id: string; readonly version: string };
}

/** The workspace of an agent's calls that name none. */
export function homeOf({ workspace }: Pick<Agent, 'workspace'>): string {
  return workspace ?? DEFAULT_WORKSPACE;
}

/** The workspaces that an agent is in: its home, and those whose coordination it has a part in. */
export function workspacesOf(agent: Pick<Agent, 'workspace' | 'parts'>): readonly string[] {
  return [...new Set([homeOf(agent), ...Object.keys(agent.parts)])];
}

export function partIn({ parts }: Pick<Agent, 'parts'>, workspace: string): 'leader' | 'worker' | undefined {
  return Object.hasOwn(parts, workspace) ? parts[workspace] : undefined;
}

/** Whether an agent is in a workspace: what else there is nobody there learns of. */
export function isIn(agent: Pick<Agent, 'workspace' | 'parts'>, workspace: string): boolean {
  return homeOf(agent) === workspace || partIn(agent, workspace) !== undefined;
}

/** So many that an agent stays one document with its capabilities in each, by which it is found. */
const MAX_WORKSPACES = 10;

/** @throws MusterError QUOTA_EXCEEDED for an agent that is in one workspace more, and that is one too many */
export function requireFewWorkspaces(before: Agent | undefined, after: Agent): void {
  const [was, is] = [before === undefined ? 0 : workspacesOf(before).length, workspacesOf(after).length];
  if (is <= MAX_WORKSPACES || is <= was) return;
  throw new MusterError('QUOTA_EXCEEDED', `An agent is in at most ${MAX_WORKSPACES} workspaces.`, {
    field: 'workspace',
    reason: 'TOO_MANY_WORKSPACES',
    suggestion:
      'Register another agent in this one: coordination.register_agent with an agent_id that is new makes a terminal.',
  });
}

/** Counts an agent in the workspaces that it is in, and was in before; `after` is undefined if it is removed. */
export function countedAgent(before: Agent | undefined, after: Agent | undefined): AgentChange[] {
  return workspacesOfBoth(before, after).flatMap((workspace): AgentChange[] => {
    const by = countIn(workspace, before, after);
    return Object.values(by).some((count) => count !== 0) ? [{ kind: 'countAgents', workspace, by }] : [];
  });
}

/** The same of several agents, as they were and are: a change for each workspace. */
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

/** The change of a workspace's counts by an agent that was `before` and is `after`. */
function countIn(workspace: string, before: Agent | undefined, after: Agent | undefined): AgentCount {
  const change = (counts: (agent: Agent) => boolean): number =>
    Number(after !== undefined && counts(after)) - Number(before !== undefined && counts(before));
  const isActive = ({ status }: Agent): boolean => status === 'active';
  const hasPart = (agent: Agent): boolean => partIn(agent, workspace) !== undefined;
  return {
    total: change(hasPart),
    leaders: change((agent) => partIn(agent, workspace) === 'leader'),
    active: change((agent) => hasPart(agent) && isActive(agent)),
    registered: change((agent) => isIn(agent, workspace)),
    online: change((agent) => isIn(agent, workspace) && isActive(agent)),
  };
}

/** Whether the caller may act for the agent: its own or its person's. Source: docs/semantics.md#who-may-do-what. */
export function isOwnAgent({ uid, kind, agent_id }: Principal, agent: Agent): boolean {
  return (
    agent_id === agent.id || agent.registered_by === uid || (kind === 'person' && agent.owner_uid === uid)
  );
}

/** How much of a digest stands at the end of an id that is made of it. */
export const USUAL_DIGITS = 8;

/** Source: kernel/ids.ts, ID. */
const MAX_ID_LENGTH = 100;

/** The id of a caller's terminal where somebody else's agent has the name. */
export function terminalId(hashing: Hashing, { uid }: Principal, name: string): string {
  const digest = hashing.sha256(`${uid}\n${name}`).slice(0, USUAL_DIGITS);
  return `${name.slice(0, MAX_ID_LENGTH - USUAL_DIGITS - 1)}-${digest}`;
}

export function forbiddenToAct(principal: Principal, agentId: string): MusterError {
  const own = principal.agent_id === undefined ? '' : ` You are "${principal.agent_id}".`;
  return new MusterError('FORBIDDEN', `You may not act as agent "${agentId}".${own}`, {
    field: 'agent_id',
    value: agentId,
    suggestion:
      'Use your own agent id, or one that you have registered with coordination.register_agent; a leader of the workspace acts for the agents in it.',
  });
}

export function agentNotRegistered(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `Agent "${agentId}" is not registered.`, {
    field: 'agent_id',
    value: agentId,
    suggestion: 'Call coordination.register_agent first.',
  });
}

/** A capability's name as names are compared: case, Unicode's forms and outer spaces do not count. */
export function foldedCapability(name: string): string {
  return name.normalize('NFC').trim().toLowerCase().normalize('NFC');
}

/** The changes of the skills of each workspace that the agent is in, and was in before; `after` as in `countedAgent`. */
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

/** What an agent declares in a workspace, by skill id. Of names that differ in case only, the first is taken. */
function capabilitiesIn(workspace: string, agent: Agent | undefined): ReadonlyMap<string, Capability> {
  const declared = agent !== undefined && isIn(agent, workspace) ? agent.capability_details : [];
  const first = [...declared].reverse();
  return new Map(first.map((capability) => [skillId(workspace, capability.name), capability]));
}

/** An id that Firestore takes, whatever the name, and that no other workspace has: "@" is not left as it is in a name. */
function skillId(workspace: string, name: string): string {
  const wellFormed = foldedCapability(name).replace(/\p{Surrogate}/gu, '\ufffd');
  const id = `capability.${encodeURIComponent(wellFormed)}`;
  return workspace === DEFAULT_WORKSPACE ? id : `${id}@${workspace}`;
}

/** A capability that agents of a workspace declare: `skills/{id}`. */
export const { toDocument: skillToDocument, fromDocument: skillFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Of whose agents it is. */
    workspace: z._default(z.string(), DEFAULT_WORKSPACE),
    /** As the agent wrote it that declared it last. */
    name: z.string(),
    category: z.string(),
    parameters: z.nullable(jsonText),
    /** That agent's version. */
    version: z.string(),
    /** Who made that agent, or its id. */
    author: z.string(),
    /** How many agents have it. It is deprecated where none has. */
    agents: z.int(),
  }),
);

/** Text, as JSON: Firestore has no arrays in arrays, and field names of its own. The first version kept an object. */
const parameters = z.codec(z.union([z.string(), z.record(z.string(), z.unknown())]), jsonObject, {
  decode: (kept) => JSON.parse(typeof kept === 'string' ? kept : JSON.stringify(kept)),
  encode: (value) => JSON.stringify(value),
});

export const SERVED = ['owner', 'workspace'] as const;

const PARTS = ['leader', 'worker'] as const;

/** The shortest time between two writes of an agent's presence, in milliseconds. */
export const SHORTEST_PRESENCE = 1000;

/** The presence of an agent in the Realtime Database. `last_seen` is within what a date can be. */
export const presenceNode = z.object({
  last_seen: z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15)),
  workspace: z.optional(z.string()),
  within: z.catch(z.optional(z.number().check(z.minimum(SHORTEST_PRESENCE))), undefined),
});

/** Fields with a default are younger than the first agents that are stored. */
export const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(AGENT_TYPES),
  version: z.string(),
  description: z.nullable(z.string()),
  creator: z.nullable(z.string()),
  /** What it can do. Tasks require capabilities by name. */
  capability_details: z.array(
    z.object({ name: z.string(), category: z.string(), parameters: z.nullable(parameters) }),
  ),
  configuration: z.object({
    max_concurrent_tasks: z.int(),
    /** Milliseconds. */
    timeout: z.int(),
    retry_policy: z.object({ max_retries: z.int(), backoff_ms: z.int() }),
  }),
  owner_uid: z.string(),
  /** What its credential allows. */
  role: z.enum(ROLES),
  /** Its home: the workspace of its calls that name none. */
  workspace: z.nullable(z.string()),
  /** Its part in the coordination of each workspace that it has registered in. */
  parts: z._default(z.record(z.string(), z.enum(PARTS)), {}),
  /** For whom it works where it is a runner: its owner, or the workers of its workspace too. */
  serves: z._default(z.enum(SERVED), 'owner'),
  /** Whether there are messages that it has not read. */
  has_messages: z._default(z.boolean(), false),
  /** The uid of the caller whose terminal it is, who acts as it. */
  registered_by: z._default(z.nullable(z.string()), null),
  status: z.enum(['active', 'offline']),
  /** Since when it is active, while it is. */
  active_since: z._default(z.nullable(timestamp), null),
  registered_at: timestamp,
  last_seen: timestamp,
  /** The tasks in hand, by id. */
  held: z.record(z.string(), z.object({ session: z.string(), claim_epoch: z.int() })),
  tasks_completed: z.int(),
  tasks_failed: z.int(),
  /** How long it worked on the tasks that it has closed, from claim to report. */
  work_milliseconds: z._default(z.number(), 0),
  /** Whether the last task that it closed failed. */
  last_failed: z._default(z.boolean(), false),
  last_completed_at: z._default(z.nullable(timestamp), null),
  /** When it first did what every new agent is asked to do. */
  milestones: z._default(
    z.object({
      /** Its first call, or a call made for it. */
      seen: z.exactOptional(timestamp),
      joined: z.exactOptional(timestamp),
      claimed: z.exactOptional(timestamp),
      /** Of several tasks completed before its second claim, the last. */
      completed: z.exactOptional(timestamp),
    }),
    {},
  ),
});

export const agentCodec = documentCodec(agentDocument);

export const agentFromDocument = agentCodec.fromDocument;

export const AVAILABILITIES = ['active', 'idle', 'busy', 'offline', 'error'] as const;

/**
 * The occupation of an agent, derived from its document. `offline`: unseen for three heartbeats. `busy`: holds as many
 * tasks as it may. `active`: holds some. Holding none, `error` where the last one that it closed failed, else `idle`.
 * Source: docs/semantics.md#network; the network specification, system.getAgents.
 */
export type Availability = (typeof AVAILABILITIES)[number];
