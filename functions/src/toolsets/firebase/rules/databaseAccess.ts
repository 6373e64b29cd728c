/**
 * Reads, writes and watches a database as the caller, under the security rules. Implemented by `firestore/` and
 * `realtime/`. Nothing here ever uses the server's own credentials.
 */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';
import { invalidPath } from './dataErrors.ts';

/** Bound of a query. */
export type Bound = string | number | boolean;

export interface ReadQuery {
  /** A field's path in Firestore; a child's path, `$key` or `$value` in the Realtime Database. */
  readonly orderBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAt?: Bound | undefined;
  readonly endAt?: Bound | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface ReadRequest {
  readonly query?: ReadQuery | undefined;
  /** Only the keys. Realtime Database only. */
  readonly shallow: boolean;
  /** Maximum size; a larger node is SIZE_LIMIT_EXCEEDED and not fully read. Realtime Database only. */
  readonly maxBytes?: number | undefined;
}

export interface ReadOutcome {
  /** In the JSON form of docs/guides/data.md. */
  readonly data: JsonValue;
  /** Number of documents or children in `data`; 1 for a single one. */
  readonly count: number;
  readonly timestamp: Date;
  /** Value for `expectedVersion` of a write. Present for single documents and unqueried nodes. */
  readonly version?: string | undefined;
  /** Present if there is more. */
  readonly nextCursor?: string | undefined;
  /** Index to add, and where. Present if the whole node was read and sorted without it. */
  readonly missingIndex?: string | undefined;
}

export const OPERATIONS = ['set', 'update', 'push', 'delete'] as const;

export type WriteOperation = (typeof OPERATIONS)[number];

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly data: JsonValue;
  /** With `set`, Firestore only: keep the fields that `data` does not contain. */
  readonly merge: boolean;
  /** Write only over the version read at the start of the call. */
  readonly transaction: boolean;
  /** With `transaction`: the version to replace; `null` if nothing must exist. */
  readonly expectedVersion?: string | null | undefined;
  /** Present for a call with an idempotency key. */
  readonly repetition?: Repetition | undefined;
}

/** Identifies a call, so that its repetition can detect that it was carried out. */
export interface Repetition {
  /** 20 characters of `[a-f0-9]`, identical in each repetition; also the key of a push. */
  readonly id: string;
  /** Distinguishes the call from another one with the same idempotency key. */
  readonly argumentsHash: string;
}

export interface WriteOutcome {
  /** The new key of a `push`. */
  readonly key?: string | undefined;
  readonly timestamp: Date;
  /** Version of the written data, if the database reports it. */
  readonly version?: string | undefined;
  /** Whether an earlier call with the same idempotency key made this write. */
  readonly isRepetition?: boolean | undefined;
}

/** Current value of a child at a watched path, or of the path; undefined if it was deleted. */
export interface Change {
  /** The child's key or the document's id; empty if the path is watched as one value. */
  readonly key: string;
  readonly data: JsonValue | undefined;
}

/** `value`: the path as one value. `children`: each child, or each document of a collection. */
export type WatchShape = 'value' | 'children';

export interface Watcher {
  /** Called once with the initial state. For `value`, a path without data is an empty map. */
  initial(state: ReadonlyMap<string, JsonValue>): void;
  /** Called for each later change, in the database's order. */
  changed(changes: readonly Change[]): void;
  /** Called at most once, possibly instead of `initial`; nothing follows. Changed rules are one cause. */
  failed(error: MusterError): void;
}

export interface Watched {
  readonly shape: WatchShape;
  readonly maxItems: number;
}

export interface Watch {
  /** Ends the watch; the watcher is not called afterwards. Idempotent. */
  stop(): void;
}

export interface DatabaseAccess {
  /** @throws MusterError as created in toolsets/firebase/rules/dataErrors.ts */
  read(caller: Caller, path: DataPath, request: ReadRequest): Promise<ReadOutcome>;
  /** @throws MusterError as created in toolsets/firebase/rules/dataErrors.ts */
  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome>;
  /** Starts a watch; all errors go to the watcher. @param watched more than `maxItems` children: SIZE_LIMIT_EXCEEDED */
  watch(caller: Caller, path: DataPath, watched: Watched, watcher: Watcher): Watch;
}

export type DatabaseAccesses = Readonly<Record<DatabaseName, DatabaseAccess>>;

export const DATABASES = ['realtime', 'firestore'] as const;

export type DatabaseName = (typeof DATABASES)[number];

/** A validated path. */
export interface DataPath {
  readonly database: DatabaseName;
  readonly text: string;
  readonly segments: readonly string[];
  /** In Firestore, a document has an even number of segments and a collection an odd one. */
  readonly kind: 'document' | 'collection' | 'node';
}

/** As in the network specification. */
export const PATH_PATTERN = '^[a-zA-Z0-9/_-]+$';

const CHARACTERS = new RegExp(PATH_PATTERN);

/** Ids that Firestore reserves, of documents and of collections. */
const RESERVED = /^__.*__$/;

/** Maximum length of a path and a segment, in bytes, and number of segments. */
const LIMITS = {
  firestore: { path: 6144, segment: 1500, segments: 200 },
  realtime: { path: 24_608, segment: 768, segments: 32 },
};

/**
 * Parses and validates a caller's path before anything is sent. Source: the network specification, "firebase.read";
 * docs/semantics.md#network; https://firebase.google.com/docs/firestore/quotas;
 * https://firebase.google.com/docs/database/usage/limits.
 * @throws MusterError with reason INVALID_PATH, explaining what is wrong
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
