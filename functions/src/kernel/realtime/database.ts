/** The Realtime Database: its paths (docs/data-model.md#realtime-database), its client and compare-and-set. */

import type { Database, DataSnapshot, Query, Reference } from 'firebase-admin/database';
import { keyOf, segmentOf } from '../ids.ts';
import { firebaseApp } from '../platform.ts';

export const PRESENCE = 'presence';
export const TASK_QUEUE = 'tasks/queue';

/** Each workspace's own but `default`'s: `workspaces/{workspace}/queue`. */
export const WORKSPACE_QUEUES = 'workspaces';
const DEFAULT_QUEUE = 'default';
export const LIMITS = 'limits';
export const METRICS_MINUTES = 'metrics/minutes';
export const METRICS_AGENTS = 'metrics/agents';
export const BUS = 'bus';
export const TASK_UPDATES = 'task-updates';
export const NOTIFICATIONS = 'notifications';
export const DEVICES = 'devices';
export const DELIVERIES = 'deliveries';
export const COMMITS = 'commits';
export const UNREADABLE = 'unreadable';
export const ACCESS_PEOPLE = 'access/people';

/** Which workspaces are open: `access/workspaces/{workspace}`. */
export const ACCESS_WORKSPACES = 'access/workspaces';

/** Where anybody may write what they like, below the name of a workspace or anything else. */
export const FREE_FORM_ROOTS: readonly string[] = ['messages', 'shared'];

/** What the rules let be written there: how deep, counted from the root, and how long a text. */
export const FREE_FORM = { levels: 20, characters: 1_048_576 } as const;

/** Source: https://firebase.google.com/docs/database/usage/limits#data_tree */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these in a key
const segment = segmentOf(/[.#$[\]/\u0000-\u001f\u007f]|\p{Cs}|^$/u, 768);

/** The path of a node of a list, by its id. */
function nodeIn(list: string): (id: string) => string {
  return (id) => `${list}/${segment(id)}`;
}

/** The same by any text, such as a uid. */
function ownNodeIn(list: string): (name: string) => string {
  return (name) => `${list}/${segment(keyOf(name))}`;
}

export const presencePath = nodeIn(PRESENCE);

/** Where the sweep tries whether something can be written: `presence`. */
export const checkPath = nodeIn('checks');

/** A workspace's mirror of what can be claimed now. The default workspace's is where specifications have it. */
export function taskQueuePath(workspace: string): string {
  return workspace === DEFAULT_QUEUE ? TASK_QUEUE : `${WORKSPACE_QUEUES}/${segment(workspace)}/queue`;
}

export function queuedTaskPath(workspace: string, taskId: string): string {
  return `${taskQueuePath(workspace)}/${segment(taskId)}`;
}

export const limitPath = ownNodeIn(LIMITS);
export const agentMetricsPath = ownNodeIn(METRICS_AGENTS);

/** @param minute any moment of it */
export function minuteMetricsPath(minute: Date): string {
  return `${METRICS_MINUTES}/${minuteKey(minute)}`;
}

/** `202611220124`: in the order of time. UTC. */
export function minuteKey(minute: Date): string {
  return minute.toISOString().replace(/\D/g, '').slice(0, 12);
}

/** The beginning of the minute that `minuteKey` wrote. */
export function timeOfMinuteKey(key: string): Date {
  const [year, month, day, hour, minute] = [0, 4, 6, 8, 10].map((at) =>
    Number(key.slice(at, at === 0 ? 4 : at + 2)),
  );
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute));
}

/** A subscription's log of events, and who writes it. */
export const busPath = nodeIn(BUS);
export const taskUpdatesPath = ownNodeIn(TASK_UPDATES);
export const notificationsPath = ownNodeIn(NOTIFICATIONS);
export const devicesPath = ownNodeIn(DEVICES);

/** What the rules know of a person: a mirror of `people/{uid}` in Firestore. */
export const personAccessPath = ownNodeIn(ACCESS_PEOPLE);

/** That a caller's write was carried out. @param id letters and digits */
export const realtimeCommitPath = nodeIn(COMMITS);

/** The Realtime Database. Its client is loaded when something first needs it. */
export async function realtimeDatabase(): Promise<Database> {
  const { getDatabase } = await import('firebase-admin/database');
  return getDatabase(firebaseApp());
}

/** A minute in which nobody called: nothing is ever there. */
const NOWHERE = minuteMetricsPath(new Date(0));

/** Asks the server for a node that has nothing. */
export async function probeRealtimeDatabase(database: () => Promise<Database>): Promise<void> {
  await (await database()).ref(NOWHERE).get();
}

/** Removes what the query finds, in one write. Tells how many. */
export async function removeFound(query: Query): Promise<number> {
  const keys = keysIn(await query.get());
  await removeFrom(query.ref, keys);
  return keys.length;
}

async function removeFrom(list: Reference, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await list.update(Object.fromEntries(keys.map((key) => [key, null])));
}

export function keysIn(found: DataSnapshot): readonly string[] {
  const keys: string[] = [];
  found.forEach((child) => void keys.push(child.key));
  return keys;
}

/** The answer went with the connection. Source: @firebase/database, PersistentConnection.cancelSentTransactions_. */
const UNANSWERED = 'disconnect';

/** Its error where this process wrote over it. Source: @firebase/database, repoAbortTransactions. */
const OVERWRITTEN = 'set';

/** A connection that breaks again and again ends the trying. */
const MAX_ATTEMPTS = 3;

/**
 * Changes a node from what it is. Where the answer is lost it is done again as soon as there is a connection, over what
 * is there then.
 * @param update gives the new value, or undefined to leave it; called again where the node is another than it
 *   seemed. Where it has written before, and the answer was lost, it must see that and write the same again.
 * @returns whether it was changed, as far as is known
 */
export async function changeNode(
  node: Reference,
  update: (current: unknown) => object | string | number | null | undefined,
): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      // Not applied locally: listeners must not be told of what the database may refuse.
      return (await node.transaction(update, undefined, false)).committed;
    } catch (error) {
      const reason = error instanceof Error ? error.message : undefined;
      if (reason === OVERWRITTEN) return false;
      if (reason !== UNANSWERED) throw error;
    }
  }
  return false;
}

/** So many may have been added at the same time by others. */
const MOST_AT_ONCE = 100;

/**
 * Of a list of which only the latest are kept, `{list}/{id}` with the milliseconds of the epoch under `at`. Puts an
 * entry there unless it is there, and drops the oldest beyond those that are kept. One that is older than
 * all of them is dropped again.
 * @param byTime the list, ordered by `at`
 */
export async function putAmongLatest(
  byTime: Query,
  key: string,
  entry: { readonly at: number },
  kept: number,
): Promise<void> {
  await changeNode(byTime.ref.child(key), (current) => (current === null ? entry : undefined));
  const keys = keysIn(await byTime.limitToLast(kept + MOST_AT_ONCE).get());
  await removeFrom(byTime.ref, keys.slice(0, Math.max(0, keys.length - kept)));
}
