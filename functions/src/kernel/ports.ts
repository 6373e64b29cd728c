/** Ports through which the services do I/O. Tests can replace each port, for example the clock. */
import type { RecordedResponse } from './commit.ts';
import { MusterError } from './errors.ts';

/** Public members of a class, as an interface that another class can implement. */
export type PortOf<Class> = Pick<Class, keyof Class>;

export interface Clock {
  now(): Date;
}

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export interface Randomness {
  /** Returns a version 4 UUID of RFC 9562. */
  uuid(): string;
  /** Returns `length` random characters of lowercase base32 (`[a-z2-7]`). */
  letters(length: number): string;
  /** Returns `bytes` random bytes as base64url. */
  secret(bytes: number): string;
  /** Returns a whole number from 0 to `below` - 1. */
  integer(below: number): number;
}

export interface Hashing {
  /** Returns the SHA-256 digest as lowercase hexadecimal digits. */
  sha256(text: string): string;
  /** Returns the HMAC-SHA-256 as base64url. */
  hmac(key: string, text: string): string;
  /** Compares two digests in constant time. */
  equal(left: string, right: string): boolean;
}

export interface Timer {
  /** Resolves after `milliseconds`, or as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface UnreadableDocuments {
  /** Records an unreadable document. Never throws. Repeated calls for one document cost little. */
  note(path: string, error: unknown): void;
  /** Returns the paths that any instance recorded in the last hour, at most 1,000. */
  recent(): Promise<readonly string[]>;
}

export interface RecordedResponseQueries {
  find(id: string): Promise<RecordedResponse | undefined>;
}

type LogEntry = (event: string, fields: Readonly<Record<string, unknown>>) => void;
export type Log = Readonly<Record<'info' | 'warn' | 'error', LogEntry>>;

/** Ports that every feature needs. Each feature extends the interface with its own ports. */
export interface KernelPorts {
  /** Stored results of calls with an idempotency key. The commit of a call stores its result. */
  readonly recordedResponses: RecordedResponseQueries;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly hashing: Hashing;
  readonly log: Log;
}

/** Base class of services. A service does I/O only through the ports of its feature. */
export abstract class Service<Ports> {
  protected readonly ports: Ports;

  constructor(ports: Ports) {
    this.ports = ports;
  }
}

export class UnreadableDocumentError extends MusterError {
  readonly owner_uid: string | undefined;
  readonly workspace: string | undefined;

  constructor(
    path: string,
    { owner_uid, workspace }: { readonly owner_uid?: string | undefined; readonly workspace?: string | undefined } = {},
  ) {
    super('FIREBASE_ERROR', `The stored document "${path}" cannot be read.`, {
      reason: 'UNREADABLE_DOCUMENT',
      suggestion:
        'The document was edited manually, or written by a newer version of Muster. Ask the operator to check the log event document_unreadable.',
    });
    this.name = 'UnreadableDocumentError';
    this.owner_uid = owner_uid;
    this.workspace = workspace;
  }
}

/** Returns the value that was read; undefined if its document is unreadable and `isSkipped`. */
export async function skipUnreadable<Value>(
  reading: Promise<Value>,
  isSkipped: (error: UnreadableDocumentError) => boolean = () => true,
): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError && isSkipped(error)) return undefined;
    throw error;
  }
}

/** Returns undefined, not an error, for an unreadable document of another workspace, so that it stays hidden. */
export function readUnreadable<Value>(isTheirs: (workspace: string) => boolean, reading: Promise<Value>) {
  return skipUnreadable(reading, ({ workspace }) => workspace !== undefined && !isTheirs(workspace));
}

/** Returns undefined, not an error, for an unreadable document of another owner, so that it stays hidden. */
export function readFor<Value>(ownerUid: string, reading: Promise<Value>): Promise<Value | undefined> {
  return skipUnreadable(reading, ({ owner_uid }) => owner_uid !== ownerUid);
}
