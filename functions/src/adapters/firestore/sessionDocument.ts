/** Sessions, their counters, discoveries and settled operations as Firestore keeps them. */
import { z } from 'zod';
import type { MemberCount, RegistryCount } from '../../domain/agents/agent.ts';
import type { Discovery } from '../../domain/coordination/discovery.ts';
import type { Counter, Session } from '../../domain/coordination/session.ts';
import type { SettledOperation } from '../../domain/idempotency/operation.ts';
import type { SessionCounters } from '../../domain/readers.ts';
import { TASK_STATUSES } from '../../domain/tasks/task.ts';
import { type DocumentCodec, documentCodec, jsonText } from './codec.ts';
import { timestamp } from './timestamp.ts';

const workspaceDocument = z.object({ session: z.string() });

/** The id of its open session. */
export function workspaceFromDocument(data: unknown): string {
  return workspaceDocument.parse(data).session;
}

export const { toDocument: sessionToDocument, fromDocument: sessionFromDocument }: DocumentCodec<Session> =
  documentCodec(
    z.object({
      id: z.string(),
      workspace: z.string(),
      goal: z.string(),
      master_plan: z.string(),
      created_at: timestamp,
      queue_version: z.int(),
      capability_keys: z.array(z.string()),
    }),
  );

const counterDocument = z.object({
  counts: z.partialRecord(z.enum([...TASK_STATUSES, 'discoveries']), z.int()).optional(),
  waits: z.object({ tasks: z.int(), milliseconds: z.number() }).optional(),
  last_activity: timestamp,
});

export function counterFromDocument(data: unknown): z.output<typeof counterDocument> {
  return counterDocument.parse(data);
}

/** Adds up a session's counters from the documents that they are spread over. */
export function sumCounters(
  shards: readonly z.output<typeof counterDocument>[],
): Omit<SessionCounters, 'stamp'> {
  const sum = (counter: Counter): number =>
    shards.reduce((total, shard) => total + (shard.counts?.[counter] ?? 0), 0);
  const counts = {
    available: sum('available'),
    claimed: sum('claimed'),
    in_progress: sum('in_progress'),
    waiting: sum('waiting'),
    done: sum('done'),
    failed: sum('failed'),
    cancelled: sum('cancelled'),
    discoveries: sum('discoveries'),
  };
  const latest = Math.max(...shards.map((shard) => shard.last_activity.getTime()));
  const waited = (part: 'tasks' | 'milliseconds'): number =>
    shards.reduce((total, shard) => total + (shard.waits?.[part] ?? 0), 0);
  const waits = { tasks: waited('tasks'), milliseconds: waited('milliseconds') };
  return { counts, waits, ...(shards.length > 0 && { lastActivity: new Date(latest) }) };
}

const memberDocument = z.object({ total: z.int(), leaders: z.int(), active: z.int() });

export function memberFromDocument(data: unknown): MemberCount {
  return memberDocument.parse(data);
}

/** Adds up a workspace's counts of agents from the documents that they are spread over. */
export function sumMembers(shards: readonly z.output<typeof memberDocument>[]): MemberCount {
  const sum = (count: keyof MemberCount): number => shards.reduce((total, shard) => total + shard[count], 0);
  return { total: sum('total'), leaders: sum('leaders'), active: sum('active') };
}

const registryDocument = z.object({ total: z.int(), active: z.int() });

export function registryFromDocument(data: unknown): RegistryCount {
  return registryDocument.parse(data);
}

/** Adds up the counts of all agents from the documents that they are spread over. */
export function sumRegistry(shards: readonly z.output<typeof registryDocument>[]): RegistryCount {
  const sum = (count: keyof RegistryCount): number =>
    shards.reduce((total, shard) => total + shard[count], 0);
  return { total: sum('total'), active: sum('active') };
}

export const {
  toDocument: discoveryToDocument,
  fromDocument: discoveryFromDocument,
}: DocumentCodec<Discovery> = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    session: z.string(),
    agent_id: z.string(),
    content: z.string(),
    tags: z.array(z.string()),
    created_at: timestamp,
  }),
);

const settled: DocumentCodec<Omit<SettledOperation, 'id'>> = documentCodec(
  z.object({ arguments_hash: z.string(), answer: jsonText, expires_at: timestamp }),
);

export const settledToDocument = settled.toDocument;

export function settledFromDocument(id: string, data: unknown): SettledOperation {
  return { id, ...settled.fromDocument(data) };
}
