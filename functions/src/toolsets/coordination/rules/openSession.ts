/** Opens sessions, shards them, and records new claimable tasks. Source: docs/decisions/0002-task-queue.md. */
import { z } from 'zod';
import { DEFAULT_PROOF, type ProofSettings } from '../../../access/rules/proofSettings.ts';
import { createWorkspaceChanges, type WorkspaceCreator } from '../../../access/rules/workspaces.ts';
import { ignoreStale } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type Randomness, Service, skipUnreadable } from '../../../kernel/ports.ts';
import type { CoordinationChange, CoordinationPorts, SessionQueries } from './ports.ts';
import { MIN_COUNTER_SHARDS, type OpenSession, type Session } from './session.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS, type Task } from './task.ts';

export interface OpenedSession {
  readonly session: Session;
  /** The stored session; undefined if a new session must be opened. */
  readonly open: OpenSession | undefined;
  /** Set if a new session must be opened: returns the changes that open it, given its final fields. */
  readonly opened: ((session: Session) => CoordinationChange[]) | undefined;
  readonly proof: ProofSettings;
}

/** Returns the open session, or else a new one that the caller's commit opens. Creating tasks requires no goal. */
export async function openSession(
  ports: CoordinationPorts,
  workspace: string,
  now: Date,
  { opener, goal = '' }: { readonly opener: WorkspaceCreator | undefined; readonly goal?: string | undefined },
): Promise<OpenedSession> {
  const { open, vacant, proof = DEFAULT_PROOF } = await ports.sessions.opening(workspace);
  const isThere = open !== undefined || vacant !== undefined;
  const opening = await createWorkspaceChanges(ports, opener, { name: workspace, isThere }, now);
  if (open !== undefined) return { session: open.session, open, opened: undefined, proof };
  return {
    session: newSession(ports.randomness, { workspace, goal, master_plan: '' }, now),
    open,
    opened: (session) => [openingOf(session, vacant), ...opening],
    proof,
  };
}

/** Returns the change that opens a session. @param replaces version of an existing workspace document */
export function openingOf(session: Session, replaces: string | undefined): CoordinationChange {
  return { kind: 'openSession', session, ...(replaces !== undefined && { replaces }) };
}

type Requiring = Pick<Task, 'required_capabilities' | 'coding'>;

/** Returns the change for newly claimable tasks, or none if their session is archived. @throws as queueGrowthIn */

export async function queueGrowth(
  sessions: SessionQueries,
  task: Pick<Task, 'workspace' | 'session'> & Requiring,
  ...others: readonly Requiring[]
): Promise<CoordinationChange[]> {
  const open = await sessions.current(task.workspace);
  if (open?.session.id !== task.session) return [];
  return [await queueGrowthIn(sessions, open, [task, ...others])];
}

/**
 * Returns the change for newly claimable tasks. A claim finds a task only if the session contains the task's
 * capability key. A commit that opens a task or changes its required capabilities must therefore add its key.
 * @param version of the session document, if the commit must fail after any other change of the session
 * @throws MusterError VALIDATION_ERROR if open tasks require too many different sets of capabilities
 */

export async function queueGrowthIn(
  sessions: SessionQueries,
  open: OpenSession,
  tasks: readonly Requiring[],
  version?: string,
): Promise<CoordinationChange> {
  const { session, sessionVersion } = open;
  const keys = keysOf(tasks);
  const known = session.capability_keys;
  const fresh = keys.filter((key) => !known.includes(key));
  if (fresh.length > 0 && known.length + fresh.length > MAX_CAPABILITY_KEYS) {
    const lasting = known.filter((key) => !keys.includes(key));
    const excess = lasting.length + keys.length - MAX_CAPABILITY_KEYS;
    const { shards, disused } = await sessions.unusedShards(session, lasting, excess);
    const capabilityKeys = [...lasting.filter((key) => !disused.includes(key)), ...keys];
    requireKeyLimit(capabilityKeys);
    const renewed = { session, capability_keys: capabilityKeys, gates: shards, version: sessionVersion };
    return { kind: 'renewCapabilityKeys', ...renewed };
  }
  const isWritten = fresh.length > 0 || version !== undefined;
  const capabilityKeys = isWritten ? keys : [];
  return { kind: 'queueGrew', session, capability_keys: capabilityKeys, ...(version !== undefined && { version }) };
}

/** Returns the keys that a session must store for these tasks: none for coding tasks, whose keys are derived. */
function keysOf(tasks: readonly Requiring[]): readonly string[] {
  const listed = tasks.filter(({ coding }) => coding === undefined);
  const all = listed.map((task) => capabilityKey(task.required_capabilities));
  return [...new Set(all)].filter((key) => key !== '');
}

function requireKeyLimit(keys: readonly string[]): void {
  if (keys.length <= MAX_CAPABILITY_KEYS) return;
  const what = `Open tasks of a session can require at most ${MAX_CAPABILITY_KEYS} different sets of capabilities.`;
  throw new MusterError('VALIDATION_ERROR', what, {
    field: 'required_capabilities',
    reason: 'TOO_MANY_CAPABILITY_SETS',
    suggestion: 'Use fewer, broader capabilities, or wait until some of the tasks are closed.',
  });
}

/** Returns the capability keys of a new session that contains these tasks. @throws MusterError as queueGrowthIn */
export function firstKeys(tasks: readonly Requiring[]): readonly string[] {
  const keys = keysOf(tasks);
  requireKeyLimit(keys);
  return keys;
}

export function newSession(
  randomness: Randomness,
  named: Pick<Session, 'workspace' | 'goal' | 'master_plan'>,
  created_at: Date,
): Session {
  const id = `session-${randomness.letters(12)}`;
  const empty = { queue_version: 0, capability_keys: [], spread: 1, first_gate: 0, counter_shards: MIN_COUNTER_SHARDS };
  return { id, ...named, created_at, ...empty };
}

// Sessions are sharded by load. Firestore sustains about one write per second and document. Each change of a task
// also writes a counter, and a queue version if more tasks become claimable. Busy sessions therefore have more
// documents for both. A new session has one queue version, because each claim reads it. Sources:
// docs/decisions/0002-task-queue.md;
// https://firebase.google.com/docs/firestore/best-practices#updates_to_a_single_document

/** Maximum number of shards, because a read of the counters reads every shard. */
const MAX_SHARDS = 64;

/** Shortest time between two writes of a document that Firestore sustains, in milliseconds. */
const MS_PER_WRITE = 1000;

/** The load of a session is checked once per this number of task changes, on average. */
const CHECKED_STAMPS = 50;
const randomShard = z.object({ workspace: z.string(), session: z.string() });

export class SessionSharding extends Service<CoordinationPorts> {
  /** Checks the session's load after a random sample of task changes. @param written the changed task document */
  async taskChanged(written: unknown): Promise<void> {
    const task = randomShard.safeParse(written).data;
    if (task === undefined || this.ports.randomness.integer(CHECKED_STAMPS) !== 0) return;
    await this.checkLoad(task.workspace, task.session);
  }

  /** Doubles the number of the open session's counters, or of its queue versions, if they are written too often. */
  async checkLoad(workspace: string, session: string): Promise<void> {
    const { sessions, store } = this.ports;
    // Tools report an unreadable session. An error here would only make the event repeat.
    const open = await skipUnreadable(sessions.current(workspace));
    if (open?.session.id !== session) return;
    const [{ ages: counterAges }, growthAges] = await Promise.all([
      sessions.counters(workspace, session),
      sessions.growthAges(open.session),
    ]);
    const { spread: before, counter_shards: counters } = open.session;
    const spread = neededShards(growthAges, before);
    const counter_shards = neededShards(counterAges, counters);
    if (spread === before && counter_shards === counters) return;
    const sharded = { ...open.session, spread, counter_shards };
    const change = { kind: 'shardSession', session: sharded, before, version: open.sessionVersion } as const;
    await ignoreStale(store.commit([change]));
  }
}

function neededShards(ages: readonly number[], count: number): number {
  return isBusy(ages, count) ? Math.min(MAX_SHARDS, 2 * count) : count;
}

/**
 * Returns whether shards are written too often. Each write chooses a random shard. The mean age of the shards is
 * therefore about the time between two writes of one shard.
 * @param ages milliseconds since the last write of each shard
 * @param spread number of shards
 */
export function isBusy(ages: readonly number[], spread: number): boolean {
  if (ages.length < spread) return false;
  return ages.reduce((sum, age) => sum + age, 0) < ages.length * MS_PER_WRITE;
}
