/** Opening sessions, and telling claims that more can be claimed. Source: docs/decisions/0002-task-queue.md. */

import { z } from 'zod';
import { type Opener, openingChanges } from '../../../access/rules/workspaces.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { type Randomness, Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { unlessStale } from '../../../kernel/waiting.ts';
import { isCodingKey } from './codingTask.ts';
import type { CoordinationChange, CoordinationPorts, SessionQueries } from './ports.ts';
import type { OpenSession, Session } from './session.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS, type Task } from './task.ts';

export interface FilledSession {
  readonly session: Session;
  /** Undefined where it is not stored yet. */
  readonly open: OpenSession | undefined;
  /** What opens it, where it is not stored yet, with the session as the commit leaves it. */
  readonly opened: ((session: Session) => CoordinationChange[]) | undefined;
}

/** The open session, or a new one that the commit filling it opens: tasks may come before a goal. */
export async function openSession(
  ports: CoordinationPorts,
  workspace: string,
  now: Date,
  { opener, goal = '' }: { readonly opener: Opener | undefined; readonly goal?: string | undefined },
): Promise<FilledSession> {
  const { open, vacant } = await ports.sessions.opening(workspace);
  const isThere = open !== undefined || vacant !== undefined;
  const opening = await openingChanges(ports, opener, { name: workspace, isThere }, now);
  if (open !== undefined) return { session: open.session, open, opened: undefined };
  return {
    session: newSession(ports.randomness, { workspace, goal }, now),
    open,
    opened: (session) => [openingOf(session, vacant), ...opening],
  };
}

/** @param replaces the version of the workspace's document, where it has one */
export function openingOf(session: Session, replaces: string | undefined): CoordinationChange {
  return { kind: 'openSession', session, ...(replaces !== undefined && { replaces }) };
}

type Requiring = Pick<Task, 'required_capabilities'>;

/** Tells claims that more tasks of a session can be claimed, unless it is archived. @throws MusterError as queueGrowthIn */

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
 * Claims look for no tasks but those whose set of capabilities the session names. So whatever opens a task, or changes what
 * it requires, sees to it that its set is named, in the same commit.
 * @param version where nothing else of the session may have changed meanwhile
 * @throws MusterError VALIDATION_ERROR where open tasks require too many different sets
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
    const { gates, disused } = await sessions.disused(session, lasting, excess);
    const capabilityKeys = [...lasting.filter((key) => !disused.includes(key)), ...keys];
    requireFew(capabilityKeys);
    return {
      kind: 'renewCapabilityKeys',
      session,
      capability_keys: capabilityKeys,
      gates,
      version: sessionVersion,
    };
  }
  const isWritten = fresh.length > 0 || version !== undefined;
  const capabilityKeys = isWritten ? keys : [];
  return {
    kind: 'queueGrew',
    session,
    capability_keys: capabilityKeys,
    ...(version !== undefined && { version }),
  };
}

/** Returns the sets that a session must store for these tasks: that of a coding task follows from its tool and project. */
function keysOf(tasks: readonly Requiring[]): readonly string[] {
  const all = tasks.map((task) => capabilityKey(task.required_capabilities));
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
  {
    workspace,
    goal,
    masterPlan = '',
  }: { readonly workspace: string; readonly goal: string; readonly masterPlan?: string | undefined },
  now: Date,
): Session {
  const id = `session-${randomness.letters(12)}`;
  const empty = { queue_version: 0, capability_keys: [], spread: LEAST_SPREAD, first_gate: 0 };
  return { id, workspace, goal, master_plan: masterPlan, created_at: now, ...empty };
}

// Spreads a session over more documents when many work in it at once. Firestore sustains about one write in a second
// to one document, so what every change of a task writes beside the task, a gate and a counter, must not be one
// document. Source: docs/decisions/0002-task-queue.md; https://firebase.google.com/docs/firestore/best-
// practices#updates_to_a_single_document

/** Over how many documents a session is spread that is opened. */
export const LEAST_SPREAD = 8;

/** The most: what is read to add the counters up. */
const MOST_SPREAD = 64;

/** One write in this time is what a document takes. */
const MILLISECONDS_A_WRITE = 1000;

/** Of how many changes of tasks one has the session looked at. */
const LOOKED_AT = 50;

const place = z.object({ workspace: z.string(), session: z.string() });

export class SessionSpreading extends Service<CoordinationPorts> {
  /** Looks at the load of the session now and then. @param written the task's document, as an event has it */
  async taskChanged(written: unknown): Promise<void> {
    const task = place.safeParse(written).data;
    if (task === undefined || this.ports.randomness.integer(LOOKED_AT) !== 0) return;
    await this.look(task.workspace, task.session);
  }

  /** Doubles the spread of the workspace's open session if its documents are written too often. */
  async look(workspace: string, session: string): Promise<void> {
    const { sessions, store } = this.ports;
    // Of a session that cannot be read the tools say so: the function that looks here would only be called again.
    const open = await unlessUnreadable(sessions.current(workspace));
    if (open?.session.id !== session) return;
    const before = open.session.spread;
    if (before >= MOST_SPREAD) return;
    const { ages } = await sessions.counters(workspace, session);
    if (!isBusy(ages, before)) return;
    const spread = Math.min(MOST_SPREAD, 2 * before);
    const spreading = { session: { ...open.session, spread }, before, version: open.sessionVersion };
    await unlessStale(store.commit([{ kind: 'spreadSession', ...spreading }]));
  }
}

/**
 * Whether documents are written more often than they take it. Each change of a task writes one of them by chance, so
 * that the mean of the times since they were written is about the time between two writes of one.
 * @param ages milliseconds since each of them was written
 * @param spread over how many they are to be spread
 */
export function isBusy(ages: readonly number[], spread: number): boolean {
  if (ages.length < spread) return false;
  return ages.reduce((sum, age) => sum + age, 0) < ages.length * MILLISECONDS_A_WRITE;
}
