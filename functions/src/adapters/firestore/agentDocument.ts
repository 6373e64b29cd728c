/** Agents and credentials as Firestore keeps them. */
import { z } from 'zod';
import { AGENT_TYPES, type Agent, type Milestones } from '../../domain/agents/agent.ts';
import type { Credential } from '../../domain/agents/credential.ts';
import { jsonObject } from '../../domain/json.ts';
import { ROLES } from '../../domain/principal.ts';
import { foldedCapability } from '../../domain/tasks/capabilities.ts';
import { timestamp } from './timestamp.ts';

/** Text, as JSON: Firestore has no arrays in arrays, and field names of its own. The first version kept an object. */
const parameters = z.union([z.string(), z.record(z.string(), z.unknown()).transform(inJson)]).nullable();

/** What has a default is younger than the first agents that are stored. */
const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(AGENT_TYPES),
  version: z.string(),
  description: z.string().nullable(),
  creator: z.string().nullable(),
  /** Names only, as spec/network.md's firebase.read example shows them. */
  capabilities: z.array(z.string()),
  capability_details: z.array(z.object({ name: z.string(), category: z.string(), parameters })),
  configuration: z.object({
    max_concurrent_tasks: z.int(),
    timeout: z.int(),
    retry_policy: z.object({ max_retries: z.int(), backoff_ms: z.int() }),
  }),
  owner_uid: z.string(),
  role: z.enum(ROLES),
  workspace: z.string().nullable(),
  coordination_role: z.enum(['leader', 'worker']).nullable(),
  status: z.enum(['active', 'offline']),
  active_since: timestamp.nullable().default(null),
  registered_at: timestamp,
  last_seen: timestamp,
  held: z.record(z.string(), z.object({ session: z.string(), claim_epoch: z.int() })),
  tasks_completed: z.int(),
  tasks_failed: z.int(),
  work_milliseconds: z.number().default(0),
  last_failed: z.boolean().default(false),
  last_completed_at: timestamp.nullable().default(null),
  /** Only queries go by these. */
  held_count: z.int().optional(),
  free_slots: z.int().optional(),
  milestones: z
    .object({
      seen: timestamp.optional(),
      joined: timestamp.optional(),
      claimed: timestamp.optional(),
      completed: timestamp.optional(),
    })
    .default({}),
});

type StoredAgent = z.output<typeof agentDocument>;

/** What queries go by, and nothing reads. */
interface QueriedFields {
  /** The capabilities' names, without regard to case. */
  readonly capability_names: readonly string[];
  readonly held_count: number;
  /** How many more tasks it may take; below 0 where it holds more than it may take at once. */
  readonly free_slots: number;
}

export function agentToDocument(agent: Agent): StoredAgent & QueriedFields {
  const { maxConcurrentTasks, timeout, retryPolicy } = agent.configuration;
  const held = Object.entries(agent.held).map(
    ([taskId, task]) => [taskId, { session: task.session, claim_epoch: task.epoch }] as const,
  );
  return {
    id: agent.id,
    name: agent.name,
    type: agent.type,
    version: agent.version,
    description: agent.description ?? null,
    creator: agent.creator ?? null,
    capabilities: agent.capabilities.map((capability) => capability.name),
    capability_details: agent.capabilities.map(({ name, category, parameters }) => ({
      name,
      category,
      parameters: parameters ? inJson(parameters) : null,
    })),
    configuration: {
      max_concurrent_tasks: maxConcurrentTasks,
      timeout,
      retry_policy: { max_retries: retryPolicy.maxRetries, backoff_ms: retryPolicy.backoffMs },
    },
    owner_uid: agent.ownerUid,
    role: agent.role,
    workspace: agent.workspace ?? null,
    coordination_role: agent.coordinationRole ?? null,
    status: agent.status,
    active_since: agent.activeSince ?? null,
    registered_at: agent.registeredAt,
    last_seen: agent.lastSeen,
    held: Object.fromEntries(held),
    tasks_completed: agent.tasksCompleted,
    tasks_failed: agent.tasksFailed,
    work_milliseconds: agent.workMilliseconds,
    last_failed: agent.lastFailed,
    last_completed_at: agent.lastCompletedAt ?? null,
    milestones: { ...agent.milestones },
    ...queriedFields(agent),
  };
}

export function queriedFields({ capabilities, configuration, held }: Agent): QueriedFields {
  const heldCount = Object.keys(held).length;
  return {
    capability_names: [...new Set(capabilities.map(({ name }) => foldedCapability(name)))],
    held_count: heldCount,
    free_slots: configuration.maxConcurrentTasks - heldCount,
  };
}

export function agentFromDocument(data: unknown): Agent {
  const stored = agentDocument.parse(data);
  const { max_concurrent_tasks, timeout, retry_policy } = stored.configuration;
  const held = Object.entries(stored.held).map(
    ([taskId, task]) => [taskId, { session: task.session, epoch: task.claim_epoch }] as const,
  );
  return {
    id: stored.id,
    name: stored.name,
    type: stored.type,
    version: stored.version,
    ...(stored.description !== null && { description: stored.description }),
    ...(stored.creator !== null && { creator: stored.creator }),
    capabilities: stored.capability_details.map(({ name, category, parameters }) => ({
      name,
      category,
      ...(parameters !== null && { parameters: jsonObject.parse(JSON.parse(parameters)) }),
    })),
    configuration: {
      maxConcurrentTasks: max_concurrent_tasks,
      timeout,
      retryPolicy: { maxRetries: retry_policy.max_retries, backoffMs: retry_policy.backoff_ms },
    },
    ownerUid: stored.owner_uid,
    role: stored.role,
    ...(stored.workspace !== null && { workspace: stored.workspace }),
    ...(stored.coordination_role && { coordinationRole: stored.coordination_role }),
    status: stored.status,
    ...(stored.active_since && { activeSince: stored.active_since }),
    registeredAt: stored.registered_at,
    lastSeen: stored.last_seen,
    held: Object.fromEntries(held),
    tasksCompleted: stored.tasks_completed,
    tasksFailed: stored.tasks_failed,
    workMilliseconds: stored.work_milliseconds,
    lastFailed: stored.last_failed,
    ...(stored.last_completed_at && { lastCompletedAt: stored.last_completed_at }),
    milestones: milestonesOf(stored.milestones),
  };
}

function inJson(value: object): string {
  return JSON.stringify(value);
}

/** As TypeScript's `field?` means it: absent, and never undefined. */
function milestonesOf({ seen, joined, claimed, completed }: StoredAgent['milestones']): Milestones {
  return {
    ...(seen && { seen }),
    ...(joined && { joined }),
    ...(claimed && { claimed }),
    ...(completed && { completed }),
  };
}

const credentialDocument = z.object({
  api_key: z.string(),
  agent_id: z.string(),
  secret_hash: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
  toolsets: z.array(z.string()).nullable(),
});

export function credentialToDocument(credential: Credential): z.output<typeof credentialDocument> {
  return {
    api_key: credential.apiKey,
    agent_id: credential.agentId,
    secret_hash: credential.secretHash,
    created_at: credential.createdAt,
    expires_at: credential.expiresAt,
    toolsets: credential.toolsets ? [...credential.toolsets] : null,
  };
}

export function credentialFromDocument(data: unknown): Credential {
  const stored = credentialDocument.parse(data);
  return {
    apiKey: stored.api_key,
    agentId: stored.agent_id,
    secretHash: stored.secret_hash,
    createdAt: stored.created_at,
    expiresAt: stored.expires_at,
    ...(stored.toolsets && { toolsets: stored.toolsets }),
  };
}
