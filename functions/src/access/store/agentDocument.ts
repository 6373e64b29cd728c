/** Agents and credentials as Firestore keeps them. */

import { z } from 'zod';
import { type DocumentCodec, documentCodec } from '../../kernel/firestore/codec.ts';
import { timestamp } from '../../kernel/firestore/documents.ts';
import { jsonObject } from '../../kernel/json.ts';
import { AGENT_TYPES, type Agent, foldedCapability } from '../rules/agent.ts';
import { type Credential, ROLES } from '../rules/principal.ts';

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

const codec: DocumentCodec<Agent> = documentCodec(agentDocument, {
  capability_details: 'capabilities',
  claim_epoch: 'epoch',
});

/** With what queries and people go by, and nothing reads: `free_slots` is below 0 where it holds more than it may at once. */
export function agentToDocument(agent: Agent): Record<string, unknown> {
  const heldCount = Object.keys(agent.held).length;
  return {
    ...codec.toDocument(agent),
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

export const agentFromDocument = codec.fromDocument;

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
