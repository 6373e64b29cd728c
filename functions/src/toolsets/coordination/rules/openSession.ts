/** Opening sessions, and telling claims that more can be claimed. Source: docs/decisions/0046-gates.md. */

import { type Opener, openingChanges } from '../../../access/rules/workspaces.ts';
import type { Change } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Randomness } from '../../../kernel/ports.ts';
import { isCodingKey } from './codingTask.ts';
import type { CoordinationPorts, SessionQueries } from './ports.ts';
import type { OpenSession, Session } from './session.ts';
import { LEAST_SPREAD } from './spreading.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS, type Task } from './task.ts';

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
  sessions: SessionQueries,
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
  sessions: SessionQueries,
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
