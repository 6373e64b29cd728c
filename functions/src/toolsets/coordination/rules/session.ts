/** Sessions of a workspace: their documents, counters and stored changes. */
import { z } from 'zod/mini';
import type { ProofSettings } from '../../../access/rules/proofSettings.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { TASK_STATUSES, type TaskStatus } from './task.ts';

export type Session = ReturnType<typeof sessionFromDocument>;

/** A workspace's open session, with the versions of its document and of the workspace document. */
export interface OpenSession {
  readonly session: Session;
  /** Time of the read by the database's clock. Every later write has a later version. */
  readonly readAt: string;
  readonly sessionVersion: string;
  readonly workspaceVersion: string;
}

/** The open session, or only the version of the workspace document. Empty if the workspace does not exist. */
export interface Opening {
  readonly open?: OpenSession | undefined;
  readonly vacant?: string;
  /** Requirements of the workspace for the results of new tasks. */
  readonly proof?: ProofSettings | undefined;
}

export type Discovery = ReturnType<typeof discoveryFromDocument>;

/** Goal of a session that was opened by creating a coding task. init_coordination can set another goal. */
export const CODING_GOAL = 'Coding';

/**
 * Names of a session's counters. With the counters, a status call does not need to read the tasks. The counters
 * `may_be_late` and `may_be_blocked` are upper bounds; see `countersOf`.
 */
export type Counter = TaskStatus | 'discoveries' | 'may_be_late' | 'may_be_blocked';

/** Fields of a session that locate its queue version shards. */
export type QueueShards = Pick<Session, 'workspace' | 'id' | 'spread' | 'first_gate'>;

export interface SessionChanges {
  /** Opens a session in its workspace. `replaces` is the version of the workspace document, if there is one. */
  readonly openSession: { readonly session: Session; readonly replaces?: string };
  readonly describeSession: { readonly session: Session; readonly before: Session; readonly version: string };
  /** Archives a session. Later commits that expect the session to be open fail. */
  readonly archiveSession: { readonly session: Session; readonly version: string; readonly at: Date };
  /** Opens an archived session again. `replaces` is the version of the workspace document. */
  readonly reopenSession: { readonly session: Session; readonly archivedVersion: string; readonly replaces: string };
  /** Records that no run waits for a task of the archived session any longer. */
  readonly sessionCleared: { readonly session: ArchivedSession };
  /** Records that more tasks can be claimed. The commit is stale if the session is no longer open. */
  readonly queueGrew: {
    readonly session: QueueShards;
    /** Capability keys of the commit's tasks; empty if the session has all of them and needs no other write. */
    readonly capability_keys: readonly string[];
    /** Version of the session document, if the commit must fail after any other change of the session. */
    readonly version?: string;
  };
  /**
   * Like `queueGrew`, but also replaces the session's capability keys. Replaces the old queue version shards, which
   * were read before the query for unused keys, so a concurrent commit that writes an old shard is stale.
   */
  readonly renewCapabilityKeys: {
    readonly session: Session;
    readonly capability_keys: readonly string[];
    readonly gates: readonly Versioned<string>[];
    readonly version: string;
  };
  /** Changes the numbers of shards. `before` is the previous number of queue version shards. */
  readonly shardSession: { readonly session: Session; readonly before: number; readonly version: string };
  readonly count: {
    readonly workspace: string;
    readonly session: string;
    readonly by: Partial<Readonly<Record<Counter, number>>>;
    readonly at: Date;
    /** Milliseconds that the task waited for its first claim; set only if this change counts the first claim. */
    readonly waited?: number;
  };
  readonly createDiscovery: { readonly discovery: Discovery };
}

/** Returns a session's counters, summed over their shards. */
export function sumCounters(shards: readonly CounterShard[]) {
  const sum = (part: (shard: CounterShard) => number | undefined): number =>
    shards.reduce((total, shard) => total + (part(shard) ?? 0), 0);
  const count = (counter: keyof CounterShard['counts']): number => sum(({ counts }) => counts[counter]);
  const latest = Math.max(...shards.map((shard) => shard.last_activity.getTime()));
  const held = count('claimed') + count('in_progress') + count('waiting');
  return {
    counts: {
      available: count('available'),
      claimed: count('claimed'),
      in_progress: count('in_progress'),
      waiting: count('waiting'),
      done: count('done'),
      failed: count('failed'),
      cancelled: count('cancelled'),
      discoveries: count('discoveries'),
    },
    held,
    open: count('available') + held,
    /** Maximum numbers of late and of blocked tasks; infinite if a shard lacks them. */
    mostLate: sum(({ may_be_late = Infinity }) => may_be_late),
    mostBlocked: sum(({ may_be_blocked = Infinity }) => may_be_blocked),
    /** Number of tasks that were ever claimed, and the total time that they waited for the first claim. */
    waits: { tasks: sum(({ waits }) => waits?.tasks), milliseconds: sum(({ waits }) => waits?.milliseconds) },
    ...(shards.length > 0 && { lastActivity: new Date(latest) }),
  };
}

export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;

/** Number of counter shards of a new session. */
export const MIN_COUNTER_SHARDS = 8;

/**
 * Session: a goal, a plan and their tasks. A workspace has at most one open session. `workspaces/{workspace}`
 * contains the session's id, and `workspaces/{workspace}/sessions/{id}` is the session's document. Archiving moves
 * the document to `workspaces/{workspace}/archive/{id}`.
 */
export const sessionDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  /** Empty until init_coordination sets a goal, because tasks can be created before. */
  goal: z.string(),
  master_plan: z.string(),
  created_at: timestamp,
  /** Incremented each time the queue writes the session document, so that one of two concurrent commits is stale. */
  queue_version: z.int(),
  /** Keys of the capability sets that open tasks require. Keys that are no longer required may remain. */
  capability_keys: z.array(z.string()),
  /** Number of queue version shards. */
  spread: z.int(),
  /** Number of the first current queue version shard. Removing unused capability keys replaces the shards. */
  first_gate: z.int(),
  counter_shards: z._default(z.int(), MIN_COUNTER_SHARDS),
});

export const { toDocument: sessionToDocument, fromDocument: sessionFromDocument } = documentCodec(sessionDocument);
export const sessionFields = fieldsCodec(sessionToDocument, sessionFromDocument);

export const counterDocument = z.object({
  counts: z._default(z.partialRecord(z.enum([...TASK_STATUSES, 'discoveries']), z.int()), {}),
  waits: z.exactOptional(z.object({ tasks: z.int(), milliseconds: z.number() })),
  /** Absent in shards of earlier releases, which never write the shards of this release. */
  may_be_late: z.exactOptional(z.int()),
  may_be_blocked: z.exactOptional(z.int()),
  last_activity: timestamp,
});

export const { fromDocument: counterFromDocument } = documentCodec(counterDocument);

export type CounterShard = ReturnType<typeof counterFromDocument>;

/** A finding that an agent shared: `discoveries/{id}`. */
export const discoveryDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  session: z.string(),
  agent_id: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  created_at: timestamp,
});

export const { toDocument: discoveryToDocument, fromDocument: discoveryFromDocument } =
  documentCodec(discoveryDocument);
