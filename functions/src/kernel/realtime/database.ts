/** Realtime Database: paths (docs/data-model.md#realtime-database), app, client, conditional writes, circuit breaker. */
import { type App, getApps, initializeApp } from 'firebase-admin/app';
import type { Database, DataSnapshot, Query, Reference } from 'firebase-admin/database';
import { Batching, withTimeoutError } from '../concurrency.ts';
import { segmentOf } from '../firestore/paths.ts';
import { keyOf } from '../ids.ts';
import { Service } from '../ports.ts';

export const PRESENCE = 'presence';
export const TASK_QUEUE = 'tasks/queue';

/** Root of the queues of all workspaces except `default`: `workspaces/{workspace}/queue`. */
export const WORKSPACE_QUEUES = 'workspaces';
const DEFAULT_QUEUE = 'default';
export const LIMITS = 'limits';
export const METRICS_MINUTES = 'metrics/minutes';
export const METRICS_DAYS = 'metrics/days';
export const METRICS_AGENTS = 'metrics/agents';
export const BUS = 'bus';
export const TASK_UPDATES = 'task-updates';
export const NOTIFICATIONS = 'notifications';
export const DEVICES = 'devices';
export const DELIVERIES = 'deliveries';
export const COMMITS = 'commits';
export const UNREADABLE = 'unreadable';
export const ACCESS_PEOPLE = 'access/people';

/** Root of the flags that mark open workspaces: `access/workspaces/{workspace}`. */
export const ACCESS_WORKSPACES = 'access/workspaces';

/** Roots of free-form data. The next path segment is a workspace or any other name. */
export const FREE_FORM_ROOTS: readonly string[] = ['messages', 'shared'];

/** Limits of free-form data in the security rules: depth of the path from the root, and characters per string. */
export const FREE_FORM = { levels: 20, characters: 1_048_576 } as const;

/** Source: https://firebase.google.com/docs/database/usage/limits#data_tree */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the service refuses exactly these in a key
const segment = segmentOf(/[.#$[\]/\u0000-\u001f\u007f]|\p{Cs}|^$/u, 768);

function nodeIn(list: string): (id: string) => string {
  return (id) => `${list}/${segment(id)}`;
}

/** Like `nodeIn`, for names that may contain any characters, such as uids. */
function ownNodeIn(list: string): (name: string) => string {
  return (name) => `${list}/${segment(keyOf(name))}`;
}

export const presencePath = nodeIn(PRESENCE);

/** Node that the sweep writes to check whether the database accepts writes. Its key is `presence`. */
export const checkPath = nodeIn('checks');

/** Returns the path of the list of a workspace's claimable tasks. The specifications define the path of `default`. */
export function taskQueuePath(workspace: string): string {
  return workspace === DEFAULT_QUEUE ? TASK_QUEUE : `${WORKSPACE_QUEUES}/${segment(workspace)}/queue`;
}

export function queuedTaskPath(workspace: string, taskId: string): string {
  return `${taskQueuePath(workspace)}/${segment(taskId)}`;
}

export const limitPath = ownNodeIn(LIMITS);
export const agentMetricsPath = ownNodeIn(METRICS_AGENTS);

/** @param minute any time within the minute */
export function minuteMetricsPath(minute: Date): string {
  return `${METRICS_MINUTES}/${minuteKey(minute)}`;
}

/** @param day any time within the day, in UTC */
export function dayMetricsPath(day: Date): string {
  return `${METRICS_DAYS}/${dayKey(day)}`;
}

/** Returns the key of a day in UTC: `20261122`. */
export function dayKey(day: Date): string {
  return minuteKey(day).slice(0, 8);
}

/** Returns the key of a minute in UTC. Keys sort by time: `202611220124`. */
export function minuteKey(minute: Date): string {
  return minute.toISOString().replace(/\D/g, '').slice(0, 12);
}

/** Returns the start of the minute that a key names. */
export function timeOfMinuteKey(key: string): Date {
  const [year, month, day, hour, minute] = [0, 4, 6, 8, 10].map((at) => Number(key.slice(at, at === 0 ? 4 : at + 2)));
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute));
}

/** Change log of a subscription, and the instance that writes the change log. */
export const busPath = nodeIn(BUS);
export const taskUpdatesPath = ownNodeIn(TASK_UPDATES);
export const notificationsPath = ownNodeIn(NOTIFICATIONS);
export const devicesPath = ownNodeIn(DEVICES);

/** A person's roles, for the security rules. A copy of `people/{uid}` in Firestore. */
export const personAccessPath = ownNodeIn(ACCESS_PEOPLE);

/** Marker of a commit that was written with the caller's own rights. @param id letters and digits */
export const realtimeCommitPath = nodeIn(COMMITS);

/** Returns the Firebase Admin app with the environment's credentials. Clients of callers use other, named apps. */
export function firebaseApp(): App {
  return getApps().find(({ name }) => name === '[DEFAULT]') ?? initializeApp();
}

export interface RealtimeSource {
  readonly database: () => Promise<Database>;
}

/** Returns the Realtime Database. The client library is loaded at the first call. */
export async function realtimeDatabase(): Promise<Database> {
  const { getDatabase } = await import('firebase-admin/database');
  return getDatabase(firebaseApp());
}

/** Node that is always empty, because no calls were counted in the minute 1970-01-01 00:00. */
const NOWHERE = minuteMetricsPath(new Date(0));

/** Checks whether the Realtime Database responds, by reading an empty node from the server. */
export async function probeRealtimeDatabase(database: () => Promise<Database>): Promise<void> {
  await (await database()).ref(NOWHERE).get();
}

/** Removes the nodes that the query finds, in one write. Returns the number of removed nodes. */
export async function removeFound(query: Query): Promise<number> {
  const keys = keysIn(await query.get());
  await removeFrom(query.ref, keys);
  return keys.length;
}

async function removeFrom(list: Reference, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await list.update(Object.fromEntries(keys.map((key) => [key, null])));
}

export function keysIn(found: DataSnapshot): readonly string[] {
  return childrenOf(found).map(({ key }) => key);
}

/** Returns the children of a node, in the order of the query that read the node. */
export function childrenOf(found: DataSnapshot): readonly (DataSnapshot & { readonly key: string })[] {
  const children: (DataSnapshot & { readonly key: string })[] = [];
  found.forEach((child) => void children.push(child));
  return children;
}

/** Error message of a lost response. Source: @firebase/database, PersistentConnection.cancelSentTransactions_. */
const UNANSWERED = 'disconnect';

/** Error message if this process overwrote the node. Source: @firebase/database, repoAbortTransactions. */
const OVERWRITTEN = 'set';

/** Maximum number of times a change is sent over an unstable connection. */
const MAX_ATTEMPTS = 3;

/**
 * Changes a node depending on its current value. If the response is lost, sends the change again.
 * @param update returns the new value, or undefined to keep the current value. Is called again if the node's value
 * has changed. After a lost response, the node may have the new value already: then return the new value again.
 * @returns whether the node was changed; false may be wrong after repeatedly lost responses
 */
export async function changeNode(
  node: Reference,
  update: (current: unknown) => object | string | number | null | undefined,
): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      // The change is not applied locally, so that local listeners see no value that the database may refuse.
      return (await node.transaction(update, undefined, false)).committed;
    } catch (error) {
      const reason = error instanceof Error ? error.message : undefined;
      if (reason === OVERWRITTEN) return false;
      if (reason !== UNANSWERED) throw error;
    }
  }
  return false;
}

/** Maximum number of surplus entries that one call removes. Other instances may add entries at the same time. */
const MAX_READ_AT_ONCE = 100;

/**
 * Adds an entry to a list unless its key exists, then removes the oldest entries until `maxEntries` are left. The new
 * entry may be the oldest one. An entry is stored at `{list}/{key}`; its field `at` is its time in milliseconds since
 * 1970.
 * @param byTime query of the list, ordered by `at`
 */
export async function putLatest(
  byTime: Query,
  key: string,
  entry: { readonly at: number },
  maxEntries: number,
): Promise<void> {
  await changeNode(byTime.ref.child(key), (current) => (current === null ? entry : undefined));
  const keys = keysIn(await byTime.limitToLast(maxEntries + MAX_READ_AT_ONCE).get());
  await removeFrom(byTime.ref, keys.slice(0, Math.max(0, keys.length - maxEntries)));
}

/** Starts a listener when the node is available. Returns a function that stops the listener. */
export function listenWhenReady(
  node: Promise<Reference>,
  listen: (node: Reference) => () => void,
  failed: (error: unknown) => void,
): () => void {
  const listening = node.then(listen);
  listening.catch(failed);
  return () => void listening.then((stop) => stop()).catch(() => undefined);
}

interface BusWrite {
  readonly path: string;
  readonly value: object;
}

/** Maximum number of writes in one update, so that an update of values that are not large stays below 16 MB. */
const MAX_BUS_WRITES = 256;

/** Writes below `bus`. The security rules make each write conditional, so that writes to many logs share an update. */
export class BusWrites extends Service<RealtimeSource> {
  private readonly batches = new Batching<BusWrite, boolean>(async (writes) => {
    const outcomes = await this.apply(writes);
    return (place) => outcomes[place] === true;
  }, MAX_BUS_WRITES);

  /** Returns false if the rules refuse the write. @param isLarge whether the value exceeds 16 KiB */
  async write(path: string, value: object, isLarge = false): Promise<boolean> {
    return isLarge ? (await this.apply([{ path, value }])).every(Boolean) : this.batches.add({ path, value });
  }

  /** Opens a separate connection, to which the security rules apply, unless it is open. */
  async connect(): Promise<Reference> {
    const { app } = await this.ports.database();
    const name = `bus-${app.name}`;
    const options = { ...app.options, databaseAuthVariableOverride: { writesBus: true } };
    const known = getApps().find((one) => one.name === name);
    const database = (await import('firebase-admin/database')).getDatabase(known ?? initializeApp(options, name));
    if (known === undefined) database.goOnline();
    return database.ref(BUS);
  }

  /** Returns which of the writes were applied. Splits a refused update, because one refused write refuses all. */
  private async apply(writes: readonly BusWrite[]): Promise<readonly boolean[]> {
    const update = Object.fromEntries(writes.map(({ path, value }) => [path, value]));
    try {
      await (await this.connect()).update(update);
      return writes.map(({ path, value }) => update[path] === value);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'PERMISSION_DENIED')) throw error;
      if (writes.length === 1) return [false];
      const half = Math.ceil(writes.length / 2);
      return (await Promise.all([this.apply(writes.slice(0, half)), this.apply(writes.slice(half))])).flat();
    }
  }
}

const TIMEOUT_MS = 1000;

/** Ends requests after a second (the client has no timeout). While a request is overdue, others fail immediately. */
export class CircuitBreaker {
  /** Number of requests that have timed out and are still unanswered. */
  private overdue = 0;

  /** @throws Error while a response is overdue */
  requireClosed(): void {
    if (this.overdue > 0) throw new Error('The Realtime Database has not responded yet.');
  }

  /** @throws Error if the response takes longer than one second */
  async waitFor<T>(start: () => Promise<T>): Promise<T> {
    this.requireClosed();
    const work = start();
    return withTimeoutError(TIMEOUT_MS, work, () => {
      this.overdue += 1;
      const answered = (): void => {
        this.overdue -= 1;
      };
      work.then(answered, answered);
      return new Error('The Realtime Database did not respond.');
    });
  }
}
