/**
 * The SDK's listeners, turned into one initial state and then a batch of changes for each message of the
 * server: of one message the SDK tells at once, of the children first and of the whole last.
 */
import type { Database, DataSnapshot, Query } from 'firebase-admin/database';
import type { Change, Watcher, WatchShape } from '../../../domain/data/access.ts';
import { connectionError, permissionDenied, sizeLimitExceeded } from '../../../domain/data/errors.ts';
import type { MusterError } from '../../../domain/errors.ts';
import type { JsonValue } from '../../../domain/json.ts';

export interface Watched {
  readonly path: string;
  readonly shape: WatchShape;
  readonly most: number;
}

export interface Listening {
  stop(): void;
}

/** @param watcher may be told before this returns, where another watch has the data at hand */
export function listen(database: Database, watched: Watched, watcher: Watcher): Listening {
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
