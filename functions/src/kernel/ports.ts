/** The ports through which rules reach the world. Tests may bind a clock of their own. */
import type { RecordedAnswer } from './commit.ts';
import { MusterError } from './errors.ts';

/** The public members of a class, so that a stand-in can take the place of one. */
export type PortOf<Class> = Pick<Class, keyof Class>;

export interface Clock {
  now(): Date;
}

export interface Randomness {
  /** An RFC 9562 UUID, version 4. */
  uuid(): string;
  /** `length` random characters of lower-case base32 (`[a-z2-7]`). */
  letters(length: number): string;
  /** `bytes` random bytes as base64url. */
  secret(bytes: number): string;
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
}

export interface Hashing {
  /** SHA-256 as lower-case hexadecimal. */
  sha256(text: string): string;
  /** HMAC-SHA-256 as base64url. */
  hmac(key: string, text: string): string;
  /** Compares two digests in constant time. */
  equal(left: string, right: string): boolean;
}

export interface Timer {
  /** Resolves after `milliseconds`, or as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface UnreadableDocuments {
  /** Never throws, and is cheap for one that is noted time and again. */
  note(path: string, error: unknown): void;
  /** Those that any instance has met in the last hour, as far as they can be counted: at most 1,000. */
  recent(): Promise<readonly string[]>;
}

export interface RecordedAnswerQueries {
  find(id: string): Promise<RecordedAnswer | undefined>;
}

type LogEntry = (event: string, fields: Readonly<Record<string, unknown>>) => void;

/** A structured log. The platform's writes Cloud Logging entries. */
export type Log = Readonly<Record<'info' | 'warn' | 'error', LogEntry>>;

/** The ports that every feature may use. Features extend it by their own. */
export interface KernelPorts {
  /** The answers of calls with an idempotency key. The commit that carries out a call stores its answer. */
  readonly recordedAnswers: RecordedAnswerQueries;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly hashing: Hashing;
  readonly log: Log;
}

/** Does its work through the ports of its feature. */
export abstract class Service<Ports> {
  protected readonly ports: Ports;

  constructor(ports: Ports) {
    this.ports = ports;
  }
}

/** Whose a document is, as far as it says. */
interface Belonging {
  readonly owner_uid?: string | undefined;
  readonly workspace?: string | undefined;
}

export class UnreadableDocumentError extends MusterError {
  readonly owner_uid: string | undefined;
  readonly workspace: string | undefined;

  constructor(path: string, { owner_uid, workspace }: Belonging = {}) {
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

/** Gives undefined where the document cannot be read. */
export async function unlessUnreadable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return undefined;
    throw error;
  }
}

/** Gives undefined where a document that cannot be read says that it is of another workspace than these: nobody learns of it. */
export async function readIn<Value>(
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

/** Gives undefined to others than the owner of a document that cannot be read: nobody learns of another's. */
export async function readFor<Value>(ownerUid: string, reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError && error.owner_uid !== ownerUid) return undefined;
    throw error;
  }
}
