/** Sessions, their counters, discoveries and settled operations as Firestore keeps them. */

import { FieldValue } from '@google-cloud/firestore';
import { z } from 'zod';
import type { MemberCount } from '../../../access/rules/agent.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { type ChangeWriters, increments } from '../../../kernel/firestore/commitWrites.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import {
  archivedSessionPath,
  COUNTER_SHARDS,
  countersPath,
  discoveryPath,
  sessionPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import type { Counter, Discovery, Session, SessionChanges, SessionCounters } from '../rules/session.ts';
import { TASK_STATUSES } from '../rules/task.ts';

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

export const sessionWriters: ChangeWriters<SessionChanges> = {
  openSession({ session, replaces }, writes) {
    writes.createOrReplace(workspacePath(session.workspace), { session: session.id }, replaces);
    writes.create(sessionPath(session.workspace, session.id), sessionToDocument(session));
  },
  describeSession({ session: { workspace, id, goal, masterPlan }, version }, writes) {
    writes.replace(sessionPath(workspace, id), { goal, master_plan: masterPlan }, version);
  },
  archiveSession({ session, at }, writes) {
    const { workspace, id } = session;
    const archived = { ...sessionToDocument(session), archived_at: at, cleared: false };
    writes.set(archivedSessionPath(workspace, id), archived);
    writes.delete(sessionPath(workspace, id), { exists: true });
  },
  sessionCleared({ session: { workspace, id } }, writes) {
    writes.update(archivedSessionPath(workspace, id), { cleared: true });
  },
  queueGrew({ workspace, session, capabilityKeys }, writes) {
    writes.update(sessionPath(workspace, session), {
      queue_version: FieldValue.increment(1),
      ...(capabilityKeys.length > 0 && { capability_keys: FieldValue.arrayUnion(...capabilityKeys) }),
    });
  },
  count({ workspace, session, by, at, waited }, writes) {
    const shard = `${countersPath(workspace, session)}/${writes.randomness.integer(COUNTER_SHARDS)}`;
    // Merging an empty map would empty the stored one.
    const counts = Object.keys(by).length > 0 && { counts: increments(by) };
    const waits = waited !== undefined && { waits: increments({ tasks: 1, milliseconds: waited }) };
    writes.set(shard, { ...counts, ...waits, last_activity: at }, { merge: true });
  },
  createDiscovery({ discovery }, writes) {
    writes.createLasting(discoveryPath(discovery.id), discoveryToDocument(discovery));
  },
};
