/** Ports through which rules perform I/O. Tests can use another clock. */
import type { RecordedResponse } from './commit.ts';
import { MusterError } from './errors.ts';

/** Public members of a class, so that another implementation can replace it. */
export type PortOf<Class> = Pick<Class, keyof Class>;

export interface Clock {
  now(): Date;
}

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface Randomness {
  /** Returns an RFC 9562 UUID, version 4. */
  uuid(): string;
  /** Returns `length` random characters of lowercase base32 (`[a-z2-7]`). */
  letters(length: number): string;
  /** Returns `bytes` random bytes as base64url. */
  secret(bytes: number): string;
  /** Returns a whole number from 0 to `below` - 1. */
  integer(below: number): number;
}

export interface Hashing {
  /** Returns SHA-256 as lowercase hexadecimal. */
  sha256(text: string): string;
  /** Returns HMAC-SHA-256 as base64url. */
  hmac(key: string, text: string): string;
  /** Compares two digests in constant time. */
  equal(left: string, right: string): boolean;
}

export interface Timer {
  /** Resolves after `milliseconds`, or as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface UnreadableDocuments {
  /** Never throws, and is cheap for a document that is noted repeatedly. */
  note(path: string, error: unknown): void;
  /** Returns the paths that any instance noted in the last hour, at most 1,000. */
  recent(): Promise<readonly string[]>;
}

export interface RecordedResponseQueries {
  find(id: string): Promise<RecordedResponse | undefined>;
}

type LogEntry = (event: string, fields: Readonly<Record<string, unknown>>) => void;

/** Structured log. In production it writes Cloud Logging entries. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', LogEntry>>;

/** Ports for every feature. Features extend the interface with their own. */
export interface KernelPorts {
  /** Results of calls with an idempotency key. The commit of a call stores its result. */
  readonly recordedResponses: RecordedResponseQueries;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly hashing: Hashing;
  readonly log: Log;
}

/** Base class of services, which do I/O only through their feature's ports. */
export abstract class Service<Ports> {
  protected readonly ports: Ports;

  constructor(ports: Ports) {
    this.ports = ports;
  }
}

/** Owner and workspace of a document, if it states them. */
interface Ownership {
  readonly owner_uid?: string | undefined;
  readonly workspace?: string | undefined;
}

export class UnreadableDocumentError extends MusterError {
  readonly owner_uid: string | undefined;
  readonly workspace: string | undefined;

  constructor(path: string, { owner_uid, workspace }: Ownership = {}) {
    super('FIREBASE_ERROR', `The stored document "${path}" cannot be read.`, {
      reason: 'UNREADABLE_DOCUMENT',
      suggestion:
        'Ask the operator to check the log event document_unreadable. The document was edited manually, or written by a newer version of Muster.',
    });
    this.name = 'UnreadableDocumentError';
    this.owner_uid = owner_uid;
    this.workspace = workspace;
  }
}

/** Returns undefined if the document is unreadable. */
export async function skipUnreadable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return undefined;
    throw error;
  }
}

/** Returns undefined for another workspace's unreadable document, so that outsiders do not learn of it. */
export async function readUnreadable<Value>(
  isTheirs: (workspace: string) => boolean,
  reading: Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof UnreadableDocumentError) || error.workspace === undefined) throw error;
    if (isTheirs(error.workspace)) throw error;
    return undefined;
  }
}

/** Returns undefined for another owner's unreadable document, so that the caller does not learn of it. */
export async function readFor<Value>(ownerUid: string, reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError && error.owner_uid !== ownerUid) return undefined;
    throw error;
  }
}
