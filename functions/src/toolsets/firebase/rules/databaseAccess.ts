/**
 * Access to a database with the caller's rights, under the security rules. It is implemented in `firestore/` and
 * `realtime/`. The server's own credentials are never used here.
 */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';
import { invalidPath } from './dataErrors.ts';

/** Bound of a query: a value that the results must reach or must not exceed. */
export type Bound = string | number | boolean;

export interface ReadQuery {
  /** Path of the field to order by. In the Realtime Database, path of a child's child, `$key` or `$value`. */
  readonly orderBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAt?: Bound | undefined;
  readonly endAt?: Bound | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ReadRequest {
  readonly query?: ReadQuery | undefined;
  /** Whether to read only the keys. For the Realtime Database only. */
  readonly shallow: boolean;
  /** Maximum size in bytes, above which the read fails with SIZE_LIMIT_EXCEEDED. For the Realtime Database only. */
  readonly maxBytes?: number | undefined;
}

export interface ReadOutcome {
  /** Data in the JSON form of docs/guides/data.md. */
  readonly data: JsonValue;
  /** Number of documents or children in `data`; 1 for a single document or value. */
  readonly count: number;
  readonly timestamp: Date;
  /** Version to pass as `expectedVersion` to a write. Absent for collections and for queries. */
  readonly version?: string | undefined;
  /** Present if there are more documents or children. */
  readonly nextCursor?: string | undefined;
  /** Index to add, and where to add it. Present if the index is missing, so the whole node was read and sorted. */
  readonly missingIndex?: string | undefined;
}

export const OPERATIONS = ['set', 'update', 'push', 'delete'] as const;

export type WriteOperation = (typeof OPERATIONS)[number];

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly data: JsonValue;
  /** For `set` in Firestore: whether fields that are not in `data` stay unchanged. */
  readonly merge: boolean;
  /** Whether the write must fail if the data was changed after the call read it. */
  readonly transaction: boolean;
  /** With `transaction`, the version that the data must have; `null` if there must be no data. */
  readonly expectedVersion?: string | null | undefined;
  /** Present if the call has an idempotency key. */
  readonly repetition?: Repetition | undefined;
}

/** Identifies a call with an idempotency key, so that a repeated call finds out whether it was carried out. */
export interface Repetition {
  /** 20 characters of `[a-f0-9]`, the same for every repetition of the call. Also used as the key of a push. */
  readonly id: string;
  /** Hash of the arguments, to detect another call with the same idempotency key. */
  readonly argumentsHash: string;
}

export interface WriteOutcome {
  /** Key that a `push` has created. */
  readonly key?: string | undefined;
  readonly timestamp: Date;
  /** Version of the data after the write, if the database returns it. */
  readonly version?: string | undefined;
  /** Whether an earlier call with the same idempotency key made this write. */
  readonly isRepetition?: boolean | undefined;
}

/** A change of a child at a watched path, or of the path's whole value. `data` is undefined if it was deleted. */
export interface Change {
  /** Key of the child or id of the document; empty if the path is watched as a single value. */
  readonly key: string;
  readonly data: JsonValue | undefined;
}

/** `value`: the path is watched as a single value. `children`: each child or document is watched separately. */
export type WatchShape = 'value' | 'children';

export interface Watcher {
  /** Called once with the initial state. For `value`, the map is empty if the path has no data. */
  initial(state: ReadonlyMap<string, JsonValue>): void;
  /** Called after each change, in the order in which the database reports the changes. */
  changed(changes: readonly Change[]): void;
  /** Called if the watch ends with an error, for example because access is denied. No other call follows. */
  failed(error: MusterError): void;
}

export interface Watched {
  readonly shape: WatchShape;
  readonly maxItems: number;
}

export interface Watch {
  /** Ends the watch. The watcher is not called afterwards. Further calls have no effect. */
  stop(): void;
}

export interface DatabaseAccess {
  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
  read(caller: Caller, path: DataPath, request: ReadRequest): Promise<ReadOutcome>;
  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome>;
  /** Starts a watch. All errors go to the watcher, such as SIZE_LIMIT_EXCEEDED for more than `maxItems` children. */
  watch(caller: Caller, path: DataPath, watched: Watched, watcher: Watcher): Watch;
}

export type DatabaseAccesses = Readonly<Record<DatabaseName, DatabaseAccess>>;

export const DATABASES = ['realtime', 'firestore'] as const;

export type DatabaseName = (typeof DATABASES)[number];

/** A path that has been validated. */
export interface DataPath {
  readonly database: DatabaseName;
  readonly text: string;
  readonly segments: readonly string[];
  /** In Firestore, documents have an even number of segments and collections an odd one. Elsewhere always `node`. */
  readonly kind: 'document' | 'collection' | 'node';
}

/** Pattern of paths in the network specification. */
export const PATH_PATTERN = '^[a-zA-Z0-9/_-]+$';

const CHARACTERS = new RegExp(PATH_PATTERN);

/** Ids of documents and collections that Firestore reserves. */
const RESERVED = /^__.*__$/;

/** Maximum lengths of a path and of a segment in bytes, and maximum number of segments. */
const LIMITS = {
  firestore: { path: 6144, segment: 1500, segments: 200 },
  realtime: { path: 24_608, segment: 768, segments: 32 },
};

/**
 * Parses and validates a caller's path, before any database is called. Source: the network specification,
 * "firebase.read"; docs/semantics.md#network; https://firebase.google.com/docs/firestore/quotas;
 * https://firebase.google.com/docs/database/usage/limits.
 * @throws MusterError with reason INVALID_PATH, which explains the problem
 */
export function parsePath(database: DatabaseName, text: string): DataPath {
  const limits = LIMITS[database];
  if (utf8Length(text) > limits.path) throw invalidPath(text, `is longer than ${limits.path} bytes`);
  if (!CHARACTERS.test(text)) {
    throw invalidPath(text, 'can only contain letters, digits, "_", "-" and, between segments, "/"');
  }
  const segments = text.split('/');
  if (segments.includes('')) {
    throw invalidPath(text, 'has an empty segment: remove "/" at the start or end, and "//"');
  }
  if (segments.length > limits.segments) throw invalidPath(text, `has more than ${limits.segments} segments`);
  const long = segments.some((segment) => utf8Length(segment) > limits.segment);
  if (long) throw invalidPath(text, `has a segment longer than ${limits.segment} bytes`);
  const reserved = database === 'firestore' ? segments.find((segment) => RESERVED.test(segment)) : undefined;
  if (reserved !== undefined) throw invalidPath(text, 'has a segment like "__…__", which Firestore reserves');
  const kind = segments.length % 2 === 0 ? 'document' : 'collection';
  return { database, text, segments, kind: database === 'realtime' ? 'node' : kind };
}
