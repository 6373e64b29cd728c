/** Sessions of a workspace: what one is, what is counted in it, and how it is opened. */

import { z } from 'zod/mini';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { TASK_STATUSES, type TaskStatus } from './task.ts';

export type Session = ReturnType<typeof sessionFromDocument>;

/** A workspace's open session, with the versions of its document and of the workspace's, which names it. */
export interface OpenSession {
  readonly session: Session;
  /** When it was read, by the database's clock: a version that each later write comes after. */
  readonly readAt: string;
  readonly sessionVersion: string;
  readonly workspaceVersion: string;
}

/** The open session, or the version of a workspace that has none yet. Neither where there is no workspace. */
export interface Opening {
  readonly open?: OpenSession | undefined;
  readonly vacant?: string;
}

export type Discovery = ReturnType<typeof discoveryFromDocument>;

/** The goal of a session that a coding task has opened, until init_coordination gives it one of its own. */
export const CODING_GOAL = 'Coding';

/** What is counted in a session, so that a status never reads the tasks. */
export type Counter = TaskStatus | 'discoveries';

/** Where what makes tasks claimable is written. */
export type SessionGates = Pick<Session, 'workspace' | 'id' | 'spread' | 'first_gate'>;

export interface SessionChanges {
  /** Makes a session its workspace's own; `replaces` is the workspace's version, where it has one. */
  readonly openSession: { readonly session: Session; readonly replaces?: string };
  readonly describeSession: { readonly session: Session; readonly before: Session; readonly version: string };
  /** Takes a session out of service; commits that expect it to be open fail from then on. */
  readonly archiveSession: { readonly session: Session; readonly version: string; readonly at: Date };
  /** Makes an archived session its workspace's own again; `replaces` is the workspace's version. */
  readonly reopenSession: {
    readonly session: Session;
    readonly archivedVersion: string;
    readonly replaces: string;
  };
  /** No run waits any more for a task of an archived session. */
  readonly sessionCleared: { readonly session: ArchivedSession };
  /** More can be claimed than before. Refused as stale where the session is no longer open. */
  readonly queueGrew: {
    readonly session: SessionGates;
    /** All that its tasks require, if the session does not know some of them or is written anyway; else none. */
    readonly capability_keys: readonly string[];
    /** Where nothing else of the session may have changed meanwhile. */
    readonly version?: string;
  };
  /**
   * The same, and the session names these sets of capabilities and no others. New gates replace all that were read before
   * it was asked which sets open tasks require: what has written one of them since, or still would, is refused as stale.
   */
  readonly renewCapabilityKeys: {
    readonly session: Session;
    readonly capability_keys: readonly string[];
    readonly gates: readonly Versioned<string>[];
    readonly version: string;
  };
  readonly spreadSession: { readonly session: Session; readonly before: number; readonly version: string };
  readonly count: {
    readonly workspace: string;
    readonly session: string;
    readonly by: Partial<Readonly<Record<Counter, number>>>;
    readonly at: Date;
    /** Milliseconds that a task waited until its first claim, where this counts one. */
    readonly waited?: number;
  };
  readonly createDiscovery: { readonly discovery: Discovery };
}

/** Adds up a session's counters from the documents that they are spread over. */
export function sumCounters(shards: readonly CounterShard[]) {
  const sum = (part: (shard: CounterShard) => number | undefined): number =>
    shards.reduce((total, shard) => total + (part(shard) ?? 0), 0);
  const count = (counter: Counter): number => sum(({ counts }) => counts[counter]);
  const latest = Math.max(...shards.map((shard) => shard.last_activity.getTime()));
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
    /** The tasks that were claimed a first time, and how long they had waited for it in all. */
    waits: { tasks: sum(({ waits }) => waits?.tasks), milliseconds: sum(({ waits }) => waits?.milliseconds) },
    ...(shards.length > 0 && { lastActivity: new Date(latest) }),
  };
}

export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;

/**
 * One coordination: a goal, a plan and the tasks under it. A workspace has at most one that is open:
 * `workspaces/{workspace}` names it, `workspaces/{workspace}/sessions/{id}` is it, and archiving moves it to
 * `workspaces/{workspace}/archive/{id}`.
 */
export const sessionDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  /** Empty until init_coordination gives it one: tasks may be created before. */
  goal: z.string(),
  master_plan: z.string(),
  created_at: timestamp,
  /** Raised whenever its queue has this document written, so that of two commits that do so at once one is stale. */
  queue_version: z.int(),
  /** The keys of the sets of capabilities that its open tasks require, and of some that they no longer do. */
  capability_keys: z.array(z.string()),
  /** Over how many gates and counters it is spread. */
  spread: z.int(),
  /** The number of its first gate: gates are replaced when sets of capabilities are forgotten. */
  first_gate: z.int(),
});

export const { toDocument: sessionToDocument, fromDocument: sessionFromDocument } =
  documentCodec(sessionDocument);

export const sessionFields = fieldsCodec(sessionToDocument, sessionFromDocument);

export const counterDocument = z.object({
  counts: z._default(z.partialRecord(z.enum([...TASK_STATUSES, 'discoveries']), z.int()), {}),
  waits: z.exactOptional(z.object({ tasks: z.int(), milliseconds: z.number() })),
  last_activity: timestamp,
});

export const { fromDocument: counterFromDocument } = documentCodec(counterDocument);

export type CounterShard = ReturnType<typeof counterFromDocument>;

/** Something an agent found out and shares: `discoveries/{id}`. */
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
