/** Agents, their credentials and what they can do, as Firestore keeps them. */

import { FieldPath, FieldValue } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, jsonText, timestamp } from '../../kernel/firestore/codec.ts';
import {
  AGENT_COUNT_SHARDS,
  agentCountsPath,
  agentPath,
  COLLECTIONS,
  credentialPath,
  mailboxPath,
  skillPath,
} from '../../kernel/firestore/paths.ts';
import { atVersion } from '../../kernel/firestore/provenCommit.ts';
import { readDue } from '../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../kernel/firestore/store.ts';
import { jsonObject } from '../../kernel/json.ts';
import type { Batch, Position } from '../../kernel/paging.ts';
import type { PortOf } from '../../kernel/ports.ts';
import { folded, prefixesOf } from '../../kernel/words.ts';
import {
  AGENT_TYPES,
  type Agent,
  type AgentChanges,
  type ClosedWork,
  foldedCapability,
  partIn,
  workspacesOf,
} from '../rules/agent.ts';
import { type Credential, DEFAULT_WORKSPACE, ROLES } from '../rules/principal.ts';
import { announceAccess, announceAgent } from './accessChanges.ts';
import { CredentialQueries, credentialFromDocument, credentialWriters } from './credentials.ts';

export class AgentQueries extends CredentialQueries {
  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return this.documents.findVersioned(await this.database.doc(agentPath(agentId)).get(), agentFromDocument);
  }

  /** Those that there are. */
  async findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]> {
    if (agentIds.length === 0) return [];
    const found = await this.database.getAll(...agentIds.map((id) => this.database.doc(agentPath(id))));
    return found.flatMap((snapshot) => this.documents.findVersioned(snapshot, agentFromDocument) ?? []);
  }

  /** Terminals that are offline and were last seen before then, the longest ago first. */
  terminalsGone(before: Date, limit: number, after?: Position): Promise<Batch<Versioned<Agent>>> {
    const offline = this.database.collection(COLLECTIONS.agents).where('status', '==', 'offline');
    return readDue(offline, 'last_seen', { now: before, limit, after }, (snapshot) =>
      this.documents
        .readableVersioned(snapshot, agentFromDocument)
        .filter(({ value }) => value.registeredBy !== undefined),
    );
  }

  /** How many agents have each of these skills. */
  async skillCounts(
    ids: readonly string[],
  ): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]> {
    if (ids.length === 0) return [];
    const found = await this.database.getAll(...ids.map((id) => this.database.doc(skillPath(id))));
    return found.flatMap((snapshot) => this.documents.readableVersioned(snapshot, skillFromDocument));
  }

  /** The credential and the agent that it belongs to, in at most two reads. */
  async findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined> {
    const snapshot = await this.database.doc(credentialPath(apiKey)).get();
    const credential = this.documents.find(snapshot, credentialFromDocument);
    if (credential === undefined) return undefined;
    const agent = await this.find(credential.agentId);
    return agent && { credential, agent: agent.value };
  }
}

export type AgentReader = PortOf<AgentQueries>;

export const agentWriters: ChangeWriters<AgentChanges> = {
  ...credentialWriters,
  createAgent({ agent }, writes) {
    writes.create(agentPath(agent.id), agentToDocument(agent));
  },
  replaceAgent({ agent, before, version }, writes) {
    writes.replace(agentPath(agent.id), agentToDocument(agent), version);
    announceAgent(writes, before, agent);
  },
  holdTask({ agent, taskId, version }, writes) {
    const { status, last_seen, active_since, milestones, held_count, free_slots } = agentToDocument(agent);
    const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
    const task = agent.held[taskId];
    const held = task && { session: task.session, claim_epoch: task.epoch };
    const pairs = [new FieldPath('held', taskId), held, ...Object.entries(fields).flat()] as const;
    writes.batch.update(writes.document(agentPath(agent.id), version), ...pairs, atVersion(version));
  },
  dropTask({ agentId, taskId, wasHeld, closed }, writes) {
    // Nobody has read the agent: counters go on from their stored values.
    const fields = {
      ...(wasHeld && increments({ held_count: -1, free_slots: 1 })),
      ...(closed && closedFields(closed)),
    };
    writes.updateIfThere(agentPath(agentId), [
      [new FieldPath('held', taskId), FieldValue.delete()],
      ...Object.entries(fields),
    ]);
  },
  noteMessages({ agentId, hasMessages }, writes) {
    writes.updateIfThere(agentPath(agentId), [['has_messages', hasMessages]]);
    announceAccess(writes, `agent:${agentId}`);
  },
  countAgents({ workspace, by }, writes) {
    const shard = `${agentCountsPath(workspace)}/${writes.randomness.integer(AGENT_COUNT_SHARDS)}`;
    writes.merge(shard, increments({ ...by }));
  },
  offerSkill({ skill, agents }, writes) {
    writes.merge(skillPath(skill.id), {
      ...skillToDocument({ ...skill, agents }),
      ...increments({ agents }),
      ...skillIndex(skill),
    });
  },
  withdrawSkill({ id }, writes) {
    writes.merge(skillPath(id), increments({ agents: -1 }));
  },
  removeAgent({ agent: { id }, version }, writes) {
    writes.deleteAt(agentPath(id), version);
    writes.delete(mailboxPath(id));
    announceAccess(writes, `agent:${id}`);
  },
  removeSkill({ id, version }, writes) {
    writes.deleteAt(skillPath(id), version);
  },
};

/** Returns the fields by which skills are searched and ordered. */
export function skillIndex({ name, category }: { readonly name: string; readonly category: string }) {
  return {
    name_folded: folded(name),
    category_folded: folded(category),
    prefixes: prefixesOf(name),
  };
}

function closedFields({ status, at, milliseconds }: ClosedWork) {
  const isDone = status === 'done';
  return {
    ...increments({ work_milliseconds: milliseconds, [isDone ? 'tasks_completed' : 'tasks_failed']: 1 }),
    last_failed: !isDone,
    ...(isDone && { last_completed_at: at }),
  };
}

/** A capability that agents of a workspace declare: `skills/{id}`. */
export const { toDocument: skillToDocument, fromDocument: skillFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Of whose agents it is. */
    workspace: z.string().default(DEFAULT_WORKSPACE),
    /** As the agent wrote it that declared it last. */
    name: z.string(),
    category: z.string(),
    parameters: jsonText.nullable(),
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

/** Fields with a default are younger than the first agents that are stored. */
const agentCodec = documentCodec(
  z.object({
    id: z.string(),
    name: z.string(),
    type: z.enum(AGENT_TYPES),
    version: z.string(),
    description: z.string().nullable(),
    creator: z.string().nullable(),
    /** What it can do. Tasks require capabilities by name. */
    capability_details: z.array(
      z.object({ name: z.string(), category: z.string(), parameters: parameters.nullable() }),
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
    workspace: z.string().nullable(),
    /** Its part in the coordination of each workspace that it has registered in. */
    parts: z.record(z.string(), z.enum(PARTS)).default({}),
    /** For whom it works where it is a runner: its owner, or the workers of its workspace too. */
    serves: z.enum(SERVED).default('owner'),
    /** Whether there are messages that it has not read. */
    has_messages: z.boolean().default(false),
    /** The uid of the caller whose terminal it is, who acts as it. */
    registered_by: z.string().nullable().default(null),
    status: z.enum(['active', 'offline']),
    /** Since when it is active, while it is. */
    active_since: timestamp.nullable().default(null),
    registered_at: timestamp,
    last_seen: timestamp,
    /** The tasks in hand, by id. */
    held: z.record(z.string(), z.object({ session: z.string(), claim_epoch: z.int() })),
    tasks_completed: z.int(),
    tasks_failed: z.int(),
    /** How long it worked on the tasks that it has closed, from claim to report. */
    work_milliseconds: z.number().default(0),
    /** Whether the last task that it closed failed. */
    last_failed: z.boolean().default(false),
    last_completed_at: timestamp.nullable().default(null),
    /** When it first did what every new agent is asked to do. */
    milestones: z
      .object({
        /** Its first call, or a call made for it. */
        seen: timestamp.exactOptional(),
        joined: timestamp.exactOptional(),
        claimed: timestamp.exactOptional(),
        /** Of several tasks completed before its second claim, the last. */
        completed: timestamp.exactOptional(),
      })
      .default({}),
  }),
  { capability_details: 'capabilities', claim_epoch: 'epoch' },
);

/** With what queries and people go by, and nothing reads: `free_slots` is below 0 where it holds more than it may at once. */
export function agentToDocument(agent: Agent): Record<string, unknown> {
  const heldCount = Object.keys(agent.held).length;
  return {
    ...agentCodec.toDocument(agent),
    // Names only, as the network specification's firebase.read example shows them.
    capabilities: agent.capabilities.map(({ name }) => name),
    capability_names: foldedNames(agent),
    workspaces: workspacesOf(agent),
    workspace_capabilities: workspacesOf(agent).flatMap((workspace) =>
      foldedNames(agent).map((name) => capabilityIn(workspace, name)),
    ),
    leads: workspacesOf(agent).filter((workspace) => partIn(agent, workspace) === 'leader'),
    held_count: heldCount,
    free_slots: agent.configuration.maxConcurrentTasks - heldCount,
  };
}

/**
 * What agents of a workspace with a capability are found by: a query asks for one thing only that an array contains.
 * No workspace's name has a "|".
 */
export function capabilityIn(workspace: string, foldedName: string): string {
  return `${workspace}|${foldedName}`;
}

/** The capabilities' names, without regard to case. */
export function foldedNames({ capabilities }: Agent): readonly string[] {
  return [...new Set(capabilities.map(({ name }) => foldedCapability(name)))];
}

export type StoredAgent = ReturnType<typeof agentCodec.fromDocument>;

export const agentFromDocument = agentCodec.fromDocument;
