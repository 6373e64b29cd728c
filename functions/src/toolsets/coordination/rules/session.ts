/** Sessions of a workspace: what one is, what is counted in it, and how it is opened. */
import type { AccessPorts } from '../../../access/rules/principal.ts';
import { type Opener, openingChanges } from '../../../access/rules/workspaces.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { Change, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { PortOf, Randomness } from '../../../kernel/ports.ts';
import type { CounterShard, discoveryFromDocument, sessionFromDocument } from '../store/documents.ts';
import type { MailboxQueries } from '../store/mailboxes.ts';
import type { TaskQueries } from '../store/queries.ts';
import type { QueueQueries } from '../store/queue.ts';
import type { SessionReader } from '../store/sessions.ts';
import { isCodingKey } from './codingTask.ts';
import { LEAST_SPREAD } from './spreading.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS, type Task, type TaskStatus } from './task.ts';

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
export type SessionGates = Pick<Session, 'workspace' | 'id' | 'spread' | 'firstGate'>;

/** What commits may change of sessions and what is in them beside tasks. */
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
    readonly capabilityKeys: readonly string[];
    /** Where nothing else of the session may have changed meanwhile. */
    readonly version?: string;
  };
  /**
   * The same, and the session names these sets of capabilities and no others. New gates replace all that were read before
   * it was asked which sets open tasks require: what has written one of them since, or still would, is refused as stale.
   */
  readonly renewCapabilityKeys: {
    readonly session: Session;
    readonly capabilityKeys: readonly string[];
    readonly gates: readonly Versioned<string>[];
    readonly version: string;
  };
  /** Spreads its gates and counters over more documents. */
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

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends SessionChanges {}
}

/** Adds up a session's counters from the documents that they are spread over. */
export function sumCounters(shards: readonly CounterShard[]) {
  const sum = (part: (shard: CounterShard) => number | undefined): number =>
    shards.reduce((total, shard) => total + (part(shard) ?? 0), 0);
  const count = (counter: Counter): number => sum(({ counts }) => counts?.[counter]);
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

/** The name of a session that another goal has replaced. */
export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;

/** What sessions and the queue of tasks are read by. */
export interface CoordinationPorts extends AccessPorts, GraphPorts {
  readonly tasks: PortOf<TaskQueries>;
  readonly queue: PortOf<QueueQueries>;
  readonly sessions: SessionReader;
  readonly mailboxes: PortOf<MailboxQueries>;
}

/** The session that a commit fills. */
export interface FilledSession {
  readonly session: Session;
  /** Undefined where it is not stored yet. */
  readonly open: OpenSession | undefined;
  /** What opens it, where it is not stored yet, with the session as the commit leaves it. */
  readonly opened: ((session: Session) => Change[]) | undefined;
}

/**
 * The workspace's open session, or a new one without a goal: tasks may come before init_coordination. A new one is not
 * stored yet: the commit that fills it opens it.
 * @param opener as openingChanges has it
 */
export async function openSession(
  ports: CoordinationPorts,
  workspace: string,
  now: Date,
  opener: Opener | undefined,
  goal = '',
): Promise<FilledSession> {
  const { open, vacant } = await ports.sessions.opening(workspace);
  const isThere = open !== undefined || vacant !== undefined;
  const opening = await openingChanges(ports, opener, workspace, isThere, now);
  if (open !== undefined) return { session: open.session, open, opened: undefined };
  return {
    session: newSession(ports.randomness, workspace, goal, '', now),
    open,
    opened: (session) => [openingOf(session, vacant), ...opening],
  };
}

/** @param replaces the version of the workspace's document, where it has one */
export function openingOf(session: Session, replaces: string | undefined): Change {
  return { kind: 'openSession', session, ...(replaces !== undefined && { replaces }) };
}

type Requiring = Pick<Task, 'requiredCapabilities'>;

/**
 * Tells claims that more of these tasks of one session can be claimed than before, unless it is archived.
 * @throws MusterError VALIDATION_ERROR as queueGrowthIn
 */
export async function queueGrowth(
  sessions: SessionReader,
  task: Pick<Task, 'workspace' | 'session'> & Requiring,
  ...others: readonly Requiring[]
): Promise<Change[]> {
  const open = await sessions.current(task.workspace);
  if (open?.session.id !== task.session) return [];
  return [await queueGrowthIn(sessions, open, [task, ...others])];
}

/**
 * Claims look for no tasks but those whose set of capabilities the session names. So whatever opens a task, or changes what
 * it requires, sees to it that its set is named, in the same commit.
 * @param version where nothing else of the session may have changed meanwhile
 * @throws MusterError VALIDATION_ERROR where open tasks require too many different sets
 */
export async function queueGrowthIn(
  sessions: SessionReader,
  open: OpenSession,
  tasks: readonly Requiring[],
  version?: string,
): Promise<Change> {
  const { session, sessionVersion } = open;
  const keys = keysOf(tasks);
  const known = session.capabilityKeys;
  const fresh = keys.filter((key) => !known.includes(key));
  if (fresh.length > 0 && known.length + fresh.length > MAX_CAPABILITY_KEYS) {
    const lasting = known.filter((key) => !keys.includes(key));
    const excess = lasting.length + keys.length - MAX_CAPABILITY_KEYS;
    const { gates, disused } = await sessions.disused(session, lasting, excess);
    const capabilityKeys = [...lasting.filter((key) => !disused.includes(key)), ...keys];
    requireFew(capabilityKeys);
    return { kind: 'renewCapabilityKeys', session, capabilityKeys, gates, version: sessionVersion };
  }
  const isWritten = fresh.length > 0 || version !== undefined;
  const capabilityKeys = isWritten ? keys : [];
  return { kind: 'queueGrew', session, capabilityKeys, ...(version !== undefined && { version }) };
}

/** Returns the sets that a session must store for these tasks: that of a coding task follows from its tool and project. */
function keysOf(tasks: readonly Requiring[]): readonly string[] {
  const all = tasks.map((task) => capabilityKey(task.requiredCapabilities));
  return [...new Set(all)].filter((key) => key !== '' && !isCodingKey(key));
}

function requireFew(keys: readonly string[]): void {
  if (keys.length <= MAX_CAPABILITY_KEYS) return;
  const what = `Open tasks of one coordination require at most ${MAX_CAPABILITY_KEYS} different sets of capabilities.`;
  throw new MusterError('VALIDATION_ERROR', what, {
    field: 'required_capabilities',
    reason: 'TOO_MANY_CAPABILITY_SETS',
    suggestion: 'Use fewer, broader capabilities, or wait until some of the tasks are closed.',
  });
}

/** The keys with which a session is opened that begins with these tasks. @throws MusterError as queueGrowthIn */
export function firstKeys(tasks: readonly Requiring[]): readonly string[] {
  const keys = keysOf(tasks);
  requireFew(keys);
  return keys;
}

export function newSession(
  randomness: Randomness,
  workspace: string,
  goal: string,
  masterPlan: string,
  now: Date,
): Session {
  const id = `session-${randomness.letters(12)}`;
  const empty = { queueVersion: 0, capabilityKeys: [], spread: LEAST_SPREAD, firstGate: 0 };
  return { id, workspace, goal, masterPlan, createdAt: now, ...empty };
}
