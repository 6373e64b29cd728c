/** Agents, their credentials and what they can do, as Firestore keeps them. */

import { FieldPath, FieldValue, type Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { type DocumentCodec, documentCodec, jsonText } from '../../kernel/firestore/codec.ts';
import { type ChangeWriters, increments } from '../../kernel/firestore/commitWrites.ts';
import { atVersion } from '../../kernel/firestore/documents.ts';
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
import type { DocumentReading } from '../../kernel/firestore/reading.ts';
import { folded, prefixesOf } from '../../kernel/text.ts';
import type { Agent, AgentChanges, ClosedWork } from '../rules/agent.ts';
import type { Credential } from '../rules/principal.ts';
import type { CapabilitySkill, OfferedSkill, SkillChanges } from '../rules/skills.ts';
import {
  agentFromDocument,
  agentToDocument,
  credentialFromDocument,
  credentialToDocument,
} from './agentDocument.ts';

/** Registering again replaces the credential, so an agent has one, or a few while registrations meet. */
const MAX_CREDENTIALS = 20;

export class FirestoreAgentReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

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

// Capabilities as Firestore keeps them.

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
