/**
 * Commits that know whether they have won. The Firestore client sends a commit again whose answer was lost, and the
 * second sending meets what the first has written: to the client that looks as if somebody else had been quicker. So
 * every commit writes an id of its own with its batch, and asks for it before it believes that it has failed.
 * Source: docs/decisions/0001-optimistic-commits.md
 */

import { type DocumentReference, Timestamp, type WriteBatch } from '@google-cloud/firestore';
import { z } from 'zod';
import { StaleWriteError, UnansweredCommitError, type Versioned } from '../commit.ts';
import { MusterError } from '../errors.ts';

/** How often a commit is sent whose answer is lost, beside what the Firestore client repeats by itself. */
const SENDINGS = 3;

/** By what a commit finds that it was carried out. */
export type Proof = Pick<CommitProof, 'carriedOutAt'>;

/** For a write that comes to the same when it is done twice: nobody needs to know whether it was. */
export const UNPROVEN: Proof = { carriedOutAt: async () => undefined };

/** How many of its latest commits a document holds that commits change. */
const KEPT_COMMITS = 4;

/** The ids of the latest commits that changed a document, the last one first. Not every document holds them. */
export const LATEST_COMMITS = 'latest_commits';

const commitIds = z.array(z.string()).catch([]);

const held = z.object({ commit: z.string().optional().catch(undefined), [LATEST_COMMITS]: commitIds });

/** The id of a commit, and the document that holds it: the first of its batch that can. */
export class CommitProof {
  readonly id: string;
  private holder: DocumentReference | undefined;
  /** The commits that had changed the holder before, where others may change it after. */
  private before: readonly string[] = [];

  /** @param id 20 random characters */
  constructor(id: string) {
    this.id = id;
  }

  /** Whether a document holds the id already. */
  get isHeld(): boolean {
    return this.holder !== undefined;
  }

  /** The data that a document is written with for the last time, or created with and never deleted. */
  lastingIn<Data extends object>(document: DocumentReference, data: Data): Data {
    if (this.isHeld) return data;
    this.holder = document;
    return { ...data, commit: this.id };
  }

  /** The data that a document is updated with at a version: further commits may follow at once. */
  latestIn<Data extends object>(document: DocumentReference, data: Data, version: string): Data {
    if (this.isHeld) return data;
    this.holder = document;
    this.before = commitsAt(version);
    return { ...data, [LATEST_COMMITS]: [this.id, ...this.before].slice(0, KEPT_COMMITS) };
  }

  /** When it was carried out, if it was. @throws UnansweredCommitError after so many commits that nobody knows */
  async carriedOutAt(): Promise<Timestamp | undefined> {
    const snapshot = await this.holder?.get();
    if (snapshot === undefined || !snapshot.exists) return undefined;
    const { commit, [LATEST_COMMITS]: latest } = held.parse(snapshot.data());
    if (commit === this.id || latest.includes(this.id)) return snapshot.updateTime;
    const [previous] = this.before;
    const isWhole = previous === undefined ? latest.length < KEPT_COMMITS : latest.includes(previous);
    if (!isWhole) throw new UnansweredCommitError();
    return undefined;
  }
}

/**
 * Sends the batch, which must hold the proof.
 * @returns when its first write was carried out
 * @throws UnansweredCommitError where nobody knows whether it was or will be carried out; else what the client threw,
 *   and then it was not
 */
export async function commitProven(batch: WriteBatch, proof: Proof): Promise<Timestamp | undefined> {
  for (let sending = 1; ; sending++) {
    try {
      return (await batch.commit())[0]?.writeTime;
    } catch (error) {
      const at = await carriedOutDespite(error, proof);
      if (at !== undefined) return at;
      const code = statusCode(error);
      if (STALE_CODES.includes(code)) throw error;
      if (!SENT_ONCE_CODES.includes(code) || sending === SENDINGS)
        throw new UnansweredCommitError({ cause: error });
    }
  }
}

/** When the commit was carried out that has failed as its sender sees it. */
async function carriedOutDespite(failure: unknown, proof: Proof): Promise<Timestamp | undefined> {
  const code = statusCode(failure);
  if (!UNANSWERED_CODES.includes(code) && !STALE_CODES.includes(code)) throw failure;
  try {
    return await proof.carriedOutAt();
  } catch (error) {
    if (error instanceof MusterError || error instanceof UnansweredCommitError) throw error;
    throw new UnansweredCommitError({ cause: new AggregateError([failure, error]) });
  }
}

/** gRPC's codes of a failed call. Source: https://grpc.io/docs/guides/status-codes */
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

/** The refusals of a commit that met another's writes, or its own of an earlier sending. */
export const STALE_CODES: readonly (number | undefined)[] = [
  NOT_FOUND,
  ALREADY_EXISTS,
  FAILED_PRECONDITION,
  ABORTED,
];

/** These stand in place of an answer that was lost: the commit may have been carried out. */
const UNANSWERED_CODES: readonly (number | undefined)[] = [
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  RESOURCE_EXHAUSTED,
  INTERNAL,
  UNAVAILABLE,
];

/** Those of them after which the Firestore client does not send a commit again by itself. */
const SENT_ONCE_CODES: readonly (number | undefined)[] = [CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL];

/** The SDK's error where a listening is ended, which has no code of its own. */
const ENDED = /^Error (\d+): /;

export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  const [, code] = ENDED.exec(error.message) ?? [];
  return code === undefined ? undefined : Number(code);
}

/** An update time as an opaque version. */
export function versionOf({ seconds, nanoseconds }: Timestamp): string {
  return `${seconds}.${nanoseconds}`;
}

/** @param latestCommits what the document has there, if it has */
export function versioned<Value>(
  value: Value,
  updateTime: Timestamp,
  latestCommits?: unknown,
): Versioned<Value> {
  return { value, version: [versionOf(updateTime), ...commitIds.parse(latestCommits)].join('/') };
}

/** Which commits had changed a document when it was read at this version. */
function commitsAt(version: string): readonly string[] {
  return version.split('/').slice(1);
}

/** The precondition that a document is still at a version. */
export function atVersion(version: string): { lastUpdateTime: Timestamp } {
  return { lastUpdateTime: timeOf(version) };
}

/** When a document became what it is at a version. */
export function timeOf(version: string): Timestamp {
  const [time = ''] = version.split('/');
  const [seconds, nanoseconds] = time.split('.');
  if (seconds === undefined || nanoseconds === undefined) throw new StaleWriteError();
  return new Timestamp(Number(seconds), Number(nanoseconds));
}
