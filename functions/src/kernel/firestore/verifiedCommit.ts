/**
 * Commits that can verify whether they were applied. If a response is lost, the Firestore client resends the commit,
 * and the second attempt conflicts with the writes of the first, as if another writer had won. So each commit writes
 * its own id with its batch and looks for it before it reports a failure.
 * Source: docs/decisions/0001-optimistic-commits.md
 */

import { type DocumentReference, Timestamp, type WriteBatch } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, UnknownCommitOutcomeError, type Versioned } from '../commit.ts';
import { MusterError } from '../errors.ts';

/** Attempts of a commit whose response is lost, in addition to the Firestore client's own retries. */
const MAX_SENDS = 3;

/** Checks whether a commit was applied. */
export type CommitMarkerReader = Pick<CommitMarker, 'committedAt'>;

/** For idempotent writes, which need no check. */
export const NO_MARKER: CommitMarkerReader = { committedAt: async () => undefined };

/** Number of latest commit ids that a changeable document keeps. */
const MAX_LATEST_COMMITS = 4;

/** Ids of the latest commits that changed a document, newest first. Only some documents keep them. */
export const LATEST_COMMITS = 'latest_commits';

const commitIds = z.array(z.string()).catch([]);

const markerFields = z.object({ commit: z.string().optional().catch(undefined), [LATEST_COMMITS]: commitIds });

/** A commit's id and the document that stores it: the first in its batch that can. */
export class CommitMarker {
  readonly id: string;
  private document: DocumentReference | undefined;
  /** Commits that changed the holder before. Used if others may change it afterwards. */
  private before: readonly string[] = [];

  /** @param id 20 random characters */
  constructor(id: string) {
    this.id = id;
  }

  /** Whether a document of the batch stores the id. */
  get isWritten(): boolean {
    return this.document !== undefined;
  }

  /** Adds the id to the data of a document that is never changed or deleted afterwards. */
  addTo<Data extends object>(document: DocumentReference, data: Data): Data {
    if (this.isWritten) return data;
    this.document = document;
    return { ...data, commit: this.id };
  }

  /** Adds the id to the data of a document at a version, after which other commits may change it. */
  addToLatest<Data extends object>(document: DocumentReference, data: Data, version: string): Data {
    if (this.isWritten) return data;
    this.document = document;
    this.before = commitsAt(version);
    return { ...data, [LATEST_COMMITS]: [this.id, ...this.before].slice(0, MAX_LATEST_COMMITS) };
  }

  /** Returns when the commit was applied, if it was. @throws UnknownCommitOutcomeError if later commits hide it */
  async committedAt(): Promise<Timestamp | undefined> {
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
 * Sends the batch, which must contain the commit marker.
 * @returns the time of its first write
 * @throws UnknownCommitOutcomeError if it is unknown whether the batch was or will be applied; else the client's error,
 *   which means that it was not
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

/** Returns when a commit was applied although its sender got an error. */
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

/** gRPC status codes. Source: https://grpc.io/docs/guides/status-codes */
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

/** Codes of a commit that conflicts with another commit, or with its own earlier attempt. */
export const STALE_CODES: readonly (number | undefined)[] = [NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED];

/** Codes of a lost response: the commit may have been applied. */
const UNKNOWN_OUTCOME_CODES: readonly (number | undefined)[] = [
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  RESOURCE_EXHAUSTED,
  INTERNAL,
  UNAVAILABLE,
];

/** Codes of a lost response after which the Firestore client does not resend the commit. */
const RETRYABLE_CODES: readonly (number | undefined)[] = [CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL];

/** Message of the SDK's error for an ended listener, which has no `code`. */
const ENDED = /^Error (\d+): /;

export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  const [, code] = ENDED.exec(error.message) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** Returns an update time as an opaque version. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${nanoseconds}`;
}

/** Returns a value with its version. @param latestCommits the document's field of that name, if any */
export function versioned<Value>(value: Value, updateTime: Timestamp, latestCommits?: unknown): Versioned<Value> {
  return { value, version: [versionOf(updateTime), ...commitIds.parse(latestCommits)].join('/') };
}

/** Returns the latest commits of a document at a version. */
function commitsAt(version: string): readonly string[] {
  return version.split('/').slice(1);
}

/** Returns the precondition that a document is still at a version. */
export function atVersion(version: string): { lastUpdateTime: Timestamp } {
  return { lastUpdateTime: timeOf(version) };
}

/** Returns the update time in a version. */
export function timeOf(version: string): Timestamp {
  const [time = ''] = version.split('/');
  const [seconds, nanoseconds] = time.split('.');
  if (seconds === undefined || nanoseconds === undefined) throw new StaleWriteError();
  return new Timestamp(Number(seconds), Number(nanoseconds));
}
