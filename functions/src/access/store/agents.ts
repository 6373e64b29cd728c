/** Agents, their credentials and what they can do, as Firestore keeps them. */

import { FieldPath, FieldValue } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { type DocumentCodec, documentCodec, jsonText, timestamp } from '../../kernel/firestore/codec.ts';
import {
  agentPath,
  COLLECTIONS,
  credentialPath,
  MEMBER_SHARDS,
  membersPath,
  REGISTRY_SHARDS,
  registryPath,
  skillPath,
} from '../../kernel/firestore/paths.ts';
import { atVersion } from '../../kernel/firestore/provenCommit.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../kernel/firestore/store.ts';
import { jsonObject } from '../../kernel/json.ts';
import { folded, prefixesOf } from '../../kernel/text.ts';
import {
  AGENT_TYPES,
  type Agent,
  type AgentChanges,
  type CapabilitySkill,
  type ClosedWork,
  foldedCapability,
  type OfferedSkill,
  type SkillChanges,
} from '../rules/agent.ts';
import { type Credential, ROLES } from '../rules/principal.ts';

/** Registering again replaces the credential, so an agent has one, or a few while registrations meet. */
const MAX_CREDENTIALS = 20;

export class FirestoreAgentReader extends FirestoreReader {
  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return this.documents.findVersioned(await this.database.doc(agentPath(agentId)).get(), agentFromDocument);
  }

  async credentials(agentId: string): Promise<readonly Credential[]> {
    const found = await this.database
      .collection(COLLECTIONS.credentials)
      .where('agent_id', '==', agentId)
      .limit(MAX_CREDENTIALS)
      .get();
    return found.docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
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

export const agentWriters: ChangeWriters<AgentChanges> = {
  createAgent({ agent }, writes) {
    writes.create(agentPath(agent.id), agentToDocument(agent));
  },
  replaceAgent({ agent, version }, writes) {
    writes.replace(agentPath(agent.id), agentToDocument(agent), version);
  },
  holdTask({ agent, taskId, version }, writes) {
    const fields = heldFields(agent, taskId);
    writes.batch.update(writes.document(agentPath(agent.id)), ...fields, atVersion(version));
  },
  dropTask(change, writes) {
    writes.batch.update(writes.document(agentPath(change.agentId)), ...droppedFields(change));
  },
  countMembers({ workspace, by }, writes) {
    const shard = `${membersPath(workspace)}/${writes.randomness.integer(MEMBER_SHARDS)}`;
    writes.set(shard, increments({ ...by }), { merge: true });
  },
  countAgents({ by }, writes) {
    const shard = registryPath(writes.randomness.integer(REGISTRY_SHARDS));
    writes.set(shard, increments({ ...by }), { merge: true });
  },
  issueCredential({ credential }, writes) {
    writes.create(credentialPath(credential.apiKey), credentialToDocument(credential));
  },
  withdrawCredential({ apiKey }, writes) {
    // Two registrations may write the same profile, which Firestore takes for no change: this tells them apart.
    writes.delete(credentialPath(apiKey), { exists: true });
  },
};

export const skillWriters: ChangeWriters<SkillChanges> = {
  offerSkill({ skill, agents }, writes) {
    const offered = { ...skillToDocument(skill), agents: FieldValue.increment(agents) };
    writes.set(skillPath(skill.id), offered, { merge: true });
  },
  withdrawSkill({ id }, writes) {
    writes.set(skillPath(id), { agents: FieldValue.increment(-1) }, { merge: true });
  },
};

type UpdatePairs = [field: string | FieldPath, value: unknown, ...more: unknown[]];

/** What a claim changes of its agent. */
function heldFields(agent: Agent, taskId: string): UpdatePairs {
  const { status, last_seen, active_since, milestones, held_count, free_slots } = agentToDocument(agent);
  const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
  const task = agent.held[taskId];
  const held = task && { session: task.session, claim_epoch: task.epoch };
  return [new FieldPath('held', taskId), held, ...Object.entries(fields).flat()];
}

/** Nobody has read the agent: what is counted is counted from what is there. */
function droppedFields({ taskId, wasHeld, closed }: AgentChanges['dropTask']): UpdatePairs {
  const freed = {
    held_count: FieldValue.increment(-1),
    free_slots: FieldValue.increment(1),
  };
  const fields = { ...(wasHeld && freed), ...(closed && closedFields(closed)) };
  return [new FieldPath('held', taskId), FieldValue.delete(), ...Object.entries(fields).flat()];
}

function closedFields({ status, at, milliseconds }: ClosedWork) {
  const work = { work_milliseconds: FieldValue.increment(milliseconds), last_failed: status === 'failed' };
  return status === 'done'
    ? { ...work, tasks_completed: FieldValue.increment(1), last_completed_at: at }
    : { ...work, tasks_failed: FieldValue.increment(1) };
}

export type AgentReader = Pick<FirestoreAgentReader, keyof FirestoreAgentReader>;

const described = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  parameters: jsonText.nullable(),
  version: z.string(),
  author: z.string(),
});

const codec: DocumentCodec<CapabilitySkill> = documentCodec(described);

/** All but the count, which is added to, and with what queries go by. */
function skillToDocument(skill: CapabilitySkill): Record<string, unknown> {
  return {
    ...codec.toDocument(skill),
    name_folded: folded(skill.name),
    category_folded: folded(skill.category),
    prefixes: prefixesOf(skill.name),
  };
}

/** `agents`: how many agents have it. It is deprecated where none has. */
export const { fromDocument: skillFromDocument }: DocumentCodec<OfferedSkill> = documentCodec(
  described.extend({ agents: z.int() }),
);

/** Text, as JSON: Firestore has no arrays in arrays, and field names of its own. The first version kept an object. */
const parameters = z.codec(z.union([z.string(), z.record(z.string(), z.unknown())]), jsonObject, {
  decode: (kept) => JSON.parse(typeof kept === 'string' ? kept : JSON.stringify(kept)),
  encode: (value) => JSON.stringify(value),
});

/** What has a default is younger than the first agents that are stored. */
const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(AGENT_TYPES),
  version: z.string(),
  description: z.string().nullable(),
  creator: z.string().nullable(),
  capability_details: z.array(
    z.object({ name: z.string(), category: z.string(), parameters: parameters.nullable() }),
  ),
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
  milestones: z
    .object({
      seen: timestamp.exactOptional(),
      joined: timestamp.exactOptional(),
      claimed: timestamp.exactOptional(),
      completed: timestamp.exactOptional(),
    })
    .default({}),
});

const agentCodec: DocumentCodec<Agent> = documentCodec(agentDocument, {
  capability_details: 'capabilities',
  claim_epoch: 'epoch',
});

/** With what queries and people go by, and nothing reads: `free_slots` is below 0 where it holds more than it may at once. */
export function agentToDocument(agent: Agent): Record<string, unknown> {
  const heldCount = Object.keys(agent.held).length;
  return {
    ...agentCodec.toDocument(agent),
    // Names only, as spec/network.md's firebase.read example shows them.
    capabilities: agent.capabilities.map(({ name }) => name),
    capability_names: foldedNames(agent),
    held_count: heldCount,
    free_slots: agent.configuration.maxConcurrentTasks - heldCount,
  };
}

/** The capabilities' names, without regard to case. */
export function foldedNames({ capabilities }: Agent): readonly string[] {
  return [...new Set(capabilities.map(({ name }) => foldedCapability(name)))];
}

export const agentFromDocument = agentCodec.fromDocument;

export const {
  toDocument: credentialToDocument,
  fromDocument: credentialFromDocument,
}: DocumentCodec<Credential> = documentCodec(
  z.object({
    api_key: z.string(),
    agent_id: z.string(),
    secret_hash: z.string(),
    created_at: timestamp,
    expires_at: timestamp,
    toolsets: z.array(z.string()).nullable(),
  }),
);
