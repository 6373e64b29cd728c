/** Watching as the caller. Source: https://firebase.google.com/docs/database/admin/retrieve-data */

import type { Database, DataSnapshot, Query } from 'firebase-admin/database';
import type { Caller } from '../../../access/rules/principal.ts';
import { expired } from '../../../access/rules/principal.ts';
import type { CallerToken, CallerTokens } from '../../../access/store/signIn.ts';
import { connectionError, MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Change, Watch, Watcher, WatchShape } from '../rules/access.ts';
import { permissionDenied, sizeLimitExceeded } from '../rules/errors.ts';
import type { CallerClients, Lease } from './access.ts';

/** A token lasts an hour. */
const LONGEST_TIMER_MILLISECONDS = 3_600_000;

export interface WatchingDependencies {
  readonly tokens: CallerTokens;
  readonly clients: CallerClients;
  readonly clock: Clock;
  /** How long the first state may take: the SDK itself tries to connect for ever. */
  readonly timeoutMilliseconds: number;
}

/**
 * One watch. It lasts no longer than the caller's right to it: when the token ends, another is asked for, which
 * there is for an agent, but not for a person who has not signed in again.
 */
export class CallerWatch implements Watch {
  private readonly dependencies: WatchingDependencies;
  private readonly caller: Caller;
  private readonly watched: Watched;
  private readonly watcher: Watcher;
  private readonly patience: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;
  private lease: Lease | undefined;
  private listening: Listening | undefined;
  private ended = false;

  constructor(dependencies: WatchingDependencies, caller: Caller, watched: Watched, watcher: Watcher) {
    this.dependencies = dependencies;
    this.caller = caller;
    this.watched = watched;
    this.watcher = watcher;
    const lost = () => this.fail(connectionError('the database sent nothing'));
    this.patience = setTimeout(lost, dependencies.timeoutMilliseconds).unref();
    this.begin().catch((error: unknown) => this.fail(error));
  }

  stop(): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.patience);
    clearTimeout(this.renewal);
    this.listening?.stop();
    this.lease?.release();
  }

  private async begin(): Promise<void> {
    const token = await this.dependencies.tokens.of(this.caller);
    const lease = await this.dependencies.clients.lease(token.claims);
    if (this.ended) return lease.release();
    this.lease = lease;
    this.renewAtTheEndOf(token);
    const listening = listen(lease.database, this.watched, {
      initial: (state) => {
        if (this.ended) return;
        clearTimeout(this.patience);
        this.watcher.initial(state);
      },
      changed: (changes) => {
        if (!this.ended) this.watcher.changed(changes);
      },
      failed: (error) => this.fail(error),
    });
    // What was at hand already came while listening began, and may have ended the watch.
    if (this.ended) listening.stop();
    else this.listening = listening;
  }

  private renewAtTheEndOf({ expiresAt }: CallerToken): void {
    const left = expiresAt.getTime() - this.dependencies.clock.now().getTime();
    const renew = () => this.renew().catch((error: unknown) => this.fail(error));
    this.renewal = setTimeout(renew, Math.min(Math.max(left, 0), LONGEST_TIMER_MILLISECONDS)).unref();
  }

  private async renew(): Promise<void> {
    const token = await this.dependencies.tokens.of(this.caller);
    if (this.ended) return;
    if (token.expiresAt <= this.dependencies.clock.now()) throw expired();
    this.renewAtTheEndOf(token);
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.stop();
    this.watcher.failed(error instanceof MusterError ? error : connectionError(error));
  }
}

// The SDK's listeners, turned into one initial state and then a batch of changes for each message of the
// server: of one message the SDK tells at once, of the children first and of the whole last.

interface Watched {
  readonly path: string;
  readonly shape: WatchShape;
  readonly most: number;
}

interface Listening {
  stop(): void;
}

/** @param watcher may be told before this returns, where another watch has the data at hand */
function listen(database: Database, watched: Watched, watcher: Watcher): Listening {
  const failed = (error: Error) => watcher.failed(refusalOf(error, watched));
  return watched.shape === 'value'
    ? listenToValue(database.ref(watched.path), watched, watcher, failed)
    : listenToChildren(database.ref(watched.path), watched, watcher, failed);
}

type Failed = (error: Error) => void;

function listenToValue(query: Query, { most }: Watched, watcher: Watcher, failed: Failed): Listening {
  let begun = false;
  const told = query.on(
    'value',
    (snapshot) => {
      if (snapshot.numChildren() > most) return watcher.failed(tooMany(most));
      const data = dataOf(snapshot);
      if (begun) return watcher.changed([{ key: '', data }]);
      begun = true;
      watcher.initial(new Map(data === undefined ? [] : [['', data]]));
    },
    failed,
  );
  return { stop: () => query.off('value', told) };
}

/** Asks for one child more than there may be, and so never downloads a great many. */
function listenToChildren(node: Query, { most }: Watched, watcher: Watcher, failed: Failed): Listening {
  const query = node.orderByKey().limitToFirst(most + 1);
  let begun = false;
  let changes: Change[] = [];
  const present = (snapshot: DataSnapshot) =>
    void changes.push({ key: keyOf(snapshot), data: dataOf(snapshot) });
  const gone = (snapshot: DataSnapshot) => void changes.push({ key: keyOf(snapshot), data: undefined });
  const complete = (whole: DataSnapshot) => {
    const told = changes;
    changes = [];
    if (whole.numChildren() > most) return watcher.failed(tooMany(most));
    if (!begun) watcher.initial(stateAfter(told));
    else if (told.length > 0) watcher.changed(told);
    begun = true;
  };
  query.on('child_added', present, failed);
  query.on('child_changed', present, failed);
  query.on('child_removed', gone, failed);
  query.on('value', complete, failed);
  return {
    stop() {
      query.off('child_added', present);
      query.off('child_changed', present);
      query.off('child_removed', gone);
      query.off('value', complete);
    },
  };
}

function stateAfter(changes: readonly Change[]): ReadonlyMap<string, JsonValue> {
  return new Map(changes.flatMap(({ key, data }) => (data === undefined ? [] : [[key, data] as const])));
}

function keyOf({ key }: DataSnapshot): string {
  if (key === null) throw new Error('A child without a key.');
  return key;
}

/** Undefined where there is nothing. */
function dataOf(snapshot: DataSnapshot): JsonValue | undefined {
  return snapshot.exists() ? plain(snapshot.val()) : undefined;
}

/** The SDK's lists have gaps, where REST writes null. */
function plain(value: unknown): JsonValue {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
}

function tooMany(most: number): MusterError {
  return sizeLimitExceeded('path', `There are more than ${most} children here.`, 'Watch a deeper path.');
}

/** The SDK gives its errors the server's code. */
function refusalOf(error: Error, { path }: Watched): MusterError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'PERMISSION_DENIED') return permissionDenied(path, error);
  if (code === 'TOO_BIG') {
    return sizeLimitExceeded(
      'path',
      'There is more than the database gives at once.',
      'Watch a deeper path.',
    );
  }
  return connectionError(error);
}
