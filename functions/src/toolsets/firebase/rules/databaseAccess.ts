/**
 * Access to a database with the caller's rights, under the security rules. The server's own credentials are never
 * used here. The implementations are in `firestore/` and `realtime/`.
 */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import { type JsonObject, type JsonValue, utf8Length } from '../../../kernel/json.ts';
import { invalidPath } from './dataErrors.ts';

/** Bound of a query: the smallest or largest value of the results. */
export type Bound = string | number | boolean;

export interface ReadQuery {
  /** Path of the field to order by; in the Realtime Database, a path below a child, `$key` or `$value`. */
  readonly orderBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAt?: Bound | undefined;
  readonly endAt?: Bound | undefined;
  readonly cursor?: string | undefined;
}

export interface ReadRequest {
  readonly query?: ReadQuery | undefined;
  /** Whether to read only the keys. Only for the Realtime Database. */
  readonly shallow: boolean;
  /** A larger response fails with SIZE_LIMIT_EXCEEDED. Only for the Realtime Database. */
  readonly maxBytes?: number | undefined;
}

export interface ReadOutcome {
  /** Data in the JSON form of docs/guides/data.md. */
  readonly data: JsonValue;
  /** Number of documents or children in `data`; 1 for a single document or value. */
  readonly count: number;
  readonly timestamp: Date;
  /** To be sent as `expectedVersion` of a write. Absent for collections and for queries. */
  readonly version?: string | undefined;
  /** Present if there are more documents or children. */
  readonly nextCursor?: string | undefined;
  /** Missing index and where to add it. Present if, without the index, the whole node was read and sorted. */
  readonly missingIndex?: string | undefined;
}

export const OPERATIONS = ['set', 'update', 'push', 'delete'] as const;
export type WriteOperation = (typeof OPERATIONS)[number];

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly data: JsonValue;
  /** For `set` in Firestore: whether fields that `data` does not contain stay unchanged. */
  readonly merge: boolean;
  /** Whether the write must fail if another write changes the data after this call has read it. */
  readonly transaction: boolean;
  /** With `transaction`, the version that the data must have; `null` if there must be no data. */
  readonly expectedVersion?: string | null | undefined;
  /** Present if the call has an idempotency key. */
  readonly repetition?: Repetition | undefined;
}

/** Identifies a call with an idempotency key, so that a repeated call can find the write of the first call. */
export interface Repetition {
  /** 20 characters of `[a-f0-9]`, equal for every repetition of the call. A push uses the id as its key. */
  readonly id: string;
  /** Hash of the arguments, which differs if another call uses the same idempotency key. */
  readonly argumentsHash: string;
}

export interface WriteOutcome {
  readonly key?: string | undefined;
  readonly timestamp: Date;
  /** Version of the data after the write, if the database returns it. */
  readonly version?: string | undefined;
  /** Whether an earlier call with the same idempotency key made this write. */
  readonly isRepetition?: boolean | undefined;
}

/** A change of a child at a watched path, or of the path's whole value. After a deletion, `data` is undefined. */
export interface Change {
  /** Key of the child or id of the document; empty if the path is watched as a single value. */
  readonly key: string;
  readonly data: JsonValue | undefined;
}

/** `value`: the path is watched as a single value. `children`: each child or document is watched separately. */
export type WatchShape = 'value' | 'children';

export interface Watcher {
  /** Called once, with the initial state. For `value`, the map is empty if the path contains no data. */
  initial(state: ReadonlyMap<string, JsonValue>): void;
  /** Called after each change, in the database's order. */
  changed(changes: readonly Change[]): void;
  /** Called if the watch ends with an error, for example if access is denied. No other call follows. */
  failed(error: MusterError): void;
}

export interface Watched {
  readonly shape: WatchShape;
  readonly maxItems: number;
}

export interface Watch {
  /** Ends the watch. The watcher gets no further calls. Calling `stop` again has no effect. */
  stop(): void;
}

export interface DatabaseAccess {
  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
  read(caller: Caller, path: DataPath, request: ReadRequest): Promise<ReadOutcome>;
  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome>;
  /** Starts a watch. All its errors go to the watcher, such as SIZE_LIMIT_EXCEEDED above `maxItems` children. */
  watch(caller: Caller, path: DataPath, watched: Watched, watcher: Watcher): Watch;
}

export type DatabaseAccesses = Readonly<Record<DatabaseName, DatabaseAccess>>;

export const DATABASES = ['realtime', 'firestore'] as const;
export type DatabaseName = (typeof DATABASES)[number];

export interface DataPath {
  readonly database: DatabaseName;
  readonly text: string;
  readonly segments: readonly string[];
  /** In Firestore: `document` for an even number of segments, else `collection`. In the Realtime Database: `node`. */
  readonly kind: 'document' | 'collection' | 'node';
}

/** Returns a document as an element of a list: its fields, its id and, if a field `id` differs, its `__name__`. */
export function elementOf(name: string, fields: JsonObject): JsonObject {
  const { id = name } = fields;
  return { id, ...(id !== name && { __name__: name }), ...fields };
}

/** Pattern of paths. Source: the network specification. */
export const PATH_PATTERN = '^[a-zA-Z0-9/_-]+$';
const CHARACTERS = new RegExp(PATH_PATTERN);
const RESERVED = /^__.*__$/;

/** Maximum lengths in bytes, and maximum number of segments. */
const LIMITS = {
  firestore: { path: 6144, segment: 1500, segments: 200 },
  realtime: { path: 24_608, segment: 768, segments: 32 },
};

/**
 * Parses and validates a caller's path before any database is called. Source: the network specification,
 * "firebase.read"; docs/semantics.md#network; https://firebase.google.com/docs/firestore/quotas;
 * https://firebase.google.com/docs/database/usage/limits.
 * @throws MusterError with reason INVALID_PATH, which explains the problem
 */
export function parsePath(database: DatabaseName, text: string): DataPath {
  const limits = LIMITS[database];
  if (utf8Length(text) > limits.path) throw invalidPath(text, `is longer than ${limits.path} bytes`);
  if (!CHARACTERS.test(text))
    throw invalidPath(text, 'can only contain letters, digits, "_", "-" and, between segments, "/"');
  const segments = text.split('/');
  if (segments.includes('')) throw invalidPath(text, 'has an empty segment: remove "/" at the start or end, and "//"');
  if (segments.length > limits.segments) throw invalidPath(text, `has more than ${limits.segments} segments`);
  const long = segments.some((segment) => utf8Length(segment) > limits.segment);
  if (long) throw invalidPath(text, `has a segment longer than ${limits.segment} bytes`);
  const reserved = database === 'firestore' ? segments.find((segment) => RESERVED.test(segment)) : undefined;
  if (reserved !== undefined) throw invalidPath(text, 'has a segment like "__…__", which Firestore reserves');
  const kind = segments.length % 2 === 0 ? 'document' : 'collection';
  return { database, text, segments, kind: database === 'realtime' ? 'node' : kind };
}
