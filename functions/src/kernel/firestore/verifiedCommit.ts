/**
 * Commits that can check whether they were applied. If a response is lost, the Firestore client resends the commit.
 * The second attempt then conflicts with the writes of the first, as if another writer had changed the documents. So
 * each commit stores its own id with its writes, and reads that id before it reports a failure. Source:
 * docs/decisions/0001-optimistic-commits.md
 */
import { type DocumentReference, Timestamp, type WriteBatch } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, UnknownCommitOutcomeError, type Versioned } from '../commit.ts';
import { MusterError } from '../errors.ts';

/** Maximum number of times a commit is sent if its response is lost. The Firestore client's own retries are extra. */
const MAX_SENDS = 3;

export type CommitMarkerReader = Pick<CommitMarker, 'committedAt'>;

/** Marker for idempotent writes, which may be repeated and need no check. */
export const NO_MARKER: CommitMarkerReader = { committedAt: async () => undefined };

/** Number of commit ids that a document keeps if commits after the marked one may change it. */
const MAX_LATEST_COMMITS = 4;

/**
 * Field with the ids of the latest commits that changed a document, newest first. Only some documents have the field.
 */
export const LATEST_COMMITS = 'latest_commits';
const commitIds = z.array(z.string()).catch([]);
const markerFields = z.object({ commit: z.string().optional().catch(undefined), [LATEST_COMMITS]: commitIds });

/** Id of a commit, and the document that stores the id: the first document of the batch that can. */
export class CommitMarker {
  readonly id: string;
  private document: DocumentReference | undefined;
  /** Ids of the commits that changed the document before. Set only if later commits may change the document. */
  private before: readonly string[] = [];
  /** Latest commits of the first replaced document after this one; undefined if later ones may have changed it. */
  private latest: readonly string[] | undefined;

  constructor(id: string) {
    this.id = id;
  }

  get isWritten(): boolean {
    return this.document !== undefined;
  }

  /** Returns the data with the commit's id, for a document that is never changed or deleted after the commit. */
  addTo<Data extends object>(document: DocumentReference, data: Data): Data {
    if (this.isWritten) return data;
    this.document = document;
    return { ...data, commit: this.id };
  }

  /** Returns the data with the ids of the latest commits, for a document that later commits may change. */
  addToLatest<Data extends object>(document: DocumentReference, data: Data, version: string): Data {
    const before = version.split('/').slice(1);
    if (this.isWritten) {
      this.latest ??= before;
      return data;
    }
    this.document = document;
    this.before = before;
    this.latest = [this.id, ...this.before].slice(0, MAX_LATEST_COMMITS);
    return { ...data, [LATEST_COMMITS]: this.latest };
  }

  /** Returns the new version of the first replaced document; undefined if unknown. @param at time of the commit */
  versionAfter(at: Timestamp | undefined): string | undefined {
    return at && this.latest && [versionOf(at), ...this.latest].join('/');
  }

  /** Returns when the commit was applied; undefined if it was not applied. @throws UnknownCommitOutcomeError */
  async committedAt(): Promise<Timestamp | undefined> {
    this.latest = undefined;
    const snapshot = await this.document?.get();
    if (snapshot === undefined || !snapshot.exists) return undefined;
    const { commit, [LATEST_COMMITS]: latest } = markerFields.parse(snapshot.data());
    if (commit === this.id || latest.includes(this.id)) return snapshot.updateTime;
    const [previous] = this.before;
    const isWhole = previous === undefined ? latest.length < MAX_LATEST_COMMITS : latest.includes(previous);
    if (!isWhole) throw new UnknownCommitOutcomeError();
    return undefined;
  }
}

/**
 * Sends the batch, which must write the commit marker.
 * @returns the time of the batch's first write
 * @throws UnknownCommitOutcomeError if the batch may have been applied or may be applied later; otherwise the
 * client's error, in which case the batch was not applied
 */
export async function verifiedCommit(batch: WriteBatch, proof: CommitMarkerReader): Promise<Timestamp | undefined> {
  for (let sending = 1; ; sending++) {
    try {
      return (await batch.commit())[0]?.writeTime;
    } catch (error) {
      const at = await committedDespite(error, proof);
      if (at !== undefined) return at;
      const code = statusCode(error);
      if (STALE_CODES.includes(code)) throw error;
      if (!RETRYABLE_CODES.includes(code) || sending === MAX_SENDS)
        throw new UnknownCommitOutcomeError({ cause: error });
    }
  }
}

/** Returns the time at which a commit was applied although its sender received an error. */
async function committedDespite(failure: unknown, proof: CommitMarkerReader): Promise<Timestamp | undefined> {
  const code = statusCode(failure);
  if (!UNKNOWN_OUTCOME_CODES.includes(code) && !STALE_CODES.includes(code)) throw failure;
  try {
    return await proof.committedAt();
  } catch (error) {
    if (error instanceof MusterError || error instanceof UnknownCommitOutcomeError) throw error;
    throw new UnknownCommitOutcomeError({ cause: new AggregateError([failure, error]) });
  }
}

/** Source of these gRPC status codes: https://grpc.io/docs/guides/status-codes */
export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
const CANCELLED = 1;
const UNKNOWN = 2;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/** Status codes of a commit that conflicts with another commit, or with an earlier attempt of the same commit. */
export const STALE_CODES: readonly (number | undefined)[] = [NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED];

/** Status codes of an unknown outcome after which the Firestore client does not resend the commit. */
const RETRYABLE_CODES: readonly (number | undefined)[] = [CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL];
const UNKNOWN_OUTCOME_CODES = [...RETRYABLE_CODES, RESOURCE_EXHAUSTED, UNAVAILABLE];

/** Matches the message of the SDK's error for a listener that ended. This error has no field `code`. */
const ENDED = /^Error (\d+): /;

export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  const [, code] = ENDED.exec(error.message) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Returns an opaque version that represents the update time. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${nanoseconds}`;
}

/** Returns a value with its version. @param latestCommits field of the document with the latest commits, if any */
export function versioned<Value>(value: Value, updateTime: Timestamp, latestCommits?: unknown): Versioned<Value> {
  return { value, version: [versionOf(updateTime), ...commitIds.parse(latestCommits)].join('/') };
}

/** Returns the precondition that a document still has a version. */
export function atVersion(version: string): { lastUpdateTime: Timestamp } {
  return { lastUpdateTime: timeOf(version) };
}

/** Returns the update time that a version contains. */
export function timeOf(version: string): Timestamp {
  const [time = ''] = version.split('/');
  const [seconds, nanoseconds] = time.split('.');
  if (seconds === undefined || nanoseconds === undefined) throw new StaleWriteError();
  return new Timestamp(Number(seconds), Number(nanoseconds));
}
