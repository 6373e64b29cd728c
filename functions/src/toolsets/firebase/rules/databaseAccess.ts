/**
 * Reading, writing and watching a database as a caller, under the security rules. `firestore/` and `realtime/` implement it, one
 * for each database. Nothing here ever runs with the server's own credentials.
 */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { MusterError } from '../../../kernel/errors.ts';
import { type JsonValue, utf8Length } from '../../../kernel/json.ts';
import { invalidPath } from './dataErrors.ts';

/** What a query may begin and end at. */
export type Bound = string | number | boolean;

export interface ReadQuery {
  /** A field's path in Firestore; a child's path, `$key` or `$value` in the Realtime Database. */
  readonly orderBy?: string | undefined;
  readonly limit?: number | undefined;
  readonly startAt?: Bound | undefined;
  readonly endAt?: Bound | undefined;
  /** Where an earlier answer was cut off: its `nextCursor`. */
  readonly cursor?: string | undefined;
}

export interface ReadRequest {
  readonly query?: ReadQuery | undefined;
  /** Only the keys. Realtime Database only. */
  readonly shallow: boolean;
  /** More at a node is SIZE_LIMIT_EXCEEDED, and not read to its end. Realtime Database only; a document is bounded. */
  readonly mostBytes?: number | undefined;
}

export interface ReadOutcome {
  /** In the JSON form of docs/guides/data.md. */
  readonly data: JsonValue;
  /** How many documents or children there are in `data`; 1 for a single one. */
  readonly count: number;
  readonly timestamp: Date;
  /** What `expectedVersion` of a write is compared with; single documents and unqueried nodes have one. */
  readonly version?: string | undefined;
  /** Present where there is more than was given. */
  readonly nextCursor?: string | undefined;
  /** Present where the whole node was read and sorted, for want of an index: which to add, and where. */
  readonly missingIndex?: string | undefined;
}

export const OPERATIONS = ['set', 'update', 'push', 'delete'] as const;

export type WriteOperation = (typeof OPERATIONS)[number];

export interface WriteRequest {
  readonly operation: WriteOperation;
  readonly data: JsonValue;
  /** With `set`, Firestore only: keep the fields that `data` does not name. */
  readonly merge: boolean;
  /** Write only over what was read at the beginning of the call. */
  readonly transaction: boolean;
  /** With `transaction`: the version that is to be replaced; `null` where there must be nothing yet. */
  readonly expectedVersion?: string | null | undefined;
  /** Of a call with an idempotency key. */
  readonly repetition?: Repetition | undefined;
}

/** By what a repetition of a call finds that the call was carried out. */
export interface Repetition {
  /** 20 characters of `[a-f0-9]`, the same in each repetition; also the key of what it pushes. */
  readonly id: string;
  /** Tells it from another call under the same idempotency key. */
  readonly argumentsHash: string;
}

export interface WriteOutcome {
  /** The new key of a `push`. */
  readonly key?: string | undefined;
  readonly timestamp: Date;
  /** Of what was written, where the database tells. */
  readonly version?: string | undefined;
  /** Whether an earlier call under the same idempotency key has written it. */
  readonly isRepetition?: boolean | undefined;
}

/** One thing at or below a watched path, and how it is now; undefined where it is gone. */
export interface Change {
  /** The child's key or the document's id; empty where the path is watched as one value. */
  readonly key: string;
  readonly data: JsonValue | undefined;
}

/** `value`: the path as one value. `children`: each child, or each document of a collection. */
export type WatchShape = 'value' | 'children';

export interface Watcher {
  /** Called once, with all that is there. As `value`, nothing at the path is a map without an entry. */
  initial(state: ReadonlyMap<string, JsonValue>): void;
  /** Then called for each change, in the order in which the database tells of them. */
  changed(changes: readonly Change[]): void;
  /** Called at most once, also instead of `initial`; nothing follows. Rules that changed are one cause. */
  failed(error: MusterError): void;
}

export interface Watched {
  readonly shape: WatchShape;
  readonly most: number;
}

export interface Watch {
  /** Ends it; the watcher hears no more. May be called again. */
  stop(): void;
}

export interface DatabaseAccess {
  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
  read(caller: Caller, path: DataPath, request: ReadRequest): Promise<ReadOutcome>;
  /** @throws MusterError as toolsets/firebase/rules/errors.ts makes them */
  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome>;
  /** Begins to watch; whatever goes wrong goes to the watcher. @param watched more than `most` children: SIZE_LIMIT_EXCEEDED */
  watch(caller: Caller, path: DataPath, watched: Watched, watcher: Watcher): Watch;
}

export type DatabaseAccesses = Readonly<Record<DatabaseName, DatabaseAccess>>;

export const DATABASES = ['realtime', 'firestore'] as const;

export type DatabaseName = (typeof DATABASES)[number];

/** A path whose segments can be trusted. */
export interface DataPath {
  readonly database: DatabaseName;
  readonly text: string;
  readonly segments: readonly string[];
  /** In Firestore an even number of segments is a document and an odd one a collection. */
  readonly kind: 'document' | 'collection' | 'node';
}

/** As the network specification writes it. */
export const PATH_PATTERN = '^[a-zA-Z0-9/_-]+$';

const CHARACTERS = new RegExp(PATH_PATTERN);

/** Firestore keeps these for itself, as ids of documents and of collections. */
const RESERVED = /^__.*__$/;

/** Characters of a path and of a segment, which here are bytes, and how many segments. */
const LIMITS = {
  firestore: { path: 6144, segment: 1500, segments: 200 },
  realtime: { path: 24_608, segment: 768, segments: 32 },
};

/**
 * Checks a path that a caller names, before anything is sent to a database. Source: the network specification, "firebase.read";
 * docs/semantics.md#network; https://firebase.google.com/docs/firestore/quotas;
 * https://firebase.google.com/docs/database/usage/limits.
 * @throws MusterError with reason INVALID_PATH, saying what is wrong and what is right
 */
export function parsePath(database: DatabaseName, text: string): DataPath {
  const limits = LIMITS[database];
  if (utf8Length(text) > limits.path) throw invalidPath(text, `is longer than ${limits.path} bytes`);
  if (!CHARACTERS.test(text)) {
    throw invalidPath(text, 'may only hold letters, digits, "_", "-" and, between segments, "/"');
  }
  const segments = text.split('/');
  if (segments.includes('')) {
    throw invalidPath(text, 'has an empty segment: it neither begins nor ends with "/", nor has "//"');
  }
  if (segments.length > limits.segments) throw invalidPath(text, `has more than ${limits.segments} segments`);
  const long = segments.some((segment) => utf8Length(segment) > limits.segment);
  if (long) throw invalidPath(text, `has a segment longer than ${limits.segment} bytes`);
  const reserved = database === 'firestore' ? segments.find((segment) => RESERVED.test(segment)) : undefined;
  if (reserved !== undefined) throw invalidPath(text, 'has a segment in "__…__", which Firestore reserves');
  const kind = segments.length % 2 === 0 ? 'document' : 'collection';
  return { database, text, segments, kind: database === 'realtime' ? 'node' : kind };
}
