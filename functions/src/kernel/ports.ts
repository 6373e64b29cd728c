/** What rules need of the world. Tests may bind a clock of their own. */
import type { RecordedAnswer, Store } from './commit.ts';
import { MusterError } from './errors.ts';
import type { Position } from './paging.ts';

/** What a class offers, for whoever is handed one of it or a stand-in for it. */
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

/** The answers of calls with an idempotency key, by id. The commit that carries out a call stores its answer. */
export interface RecordedAnswers {
  find(id: string): Promise<RecordedAnswer | undefined>;
}

/** Who is alive: `presence/{agentId}` in the Realtime Database. */
export interface Presence {
  /**
   * Notes that the agent was just seen. Cheap: at most one write in half a second per instance and agent.
   * @throws Error where that takes longer than a second
   */
  touch(agentId: string): Promise<void>;
  /** When each of the agents was last seen; an agent never seen, or swept away, is absent. */
  lastSeen(agentIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** The agents last seen before `before`, longest ago first, at most `limit`, and when that was. */
  unseenSince(before: Date, limit: number, after?: Position): Promise<ReadonlyMap<string, Date>>;
  /** Forgets an agent unless it was seen again since `before`. Tells whether it did. */
  forget(agentId: string, before: Date): Promise<boolean>;
  /** Writes and reads beside what it keeps. A database that is away makes it wait. */
  check(): Promise<void>;
}

/** A structured log. The platform's writes Cloud Logging entries. */
export interface Log {
  info(event: string, fields: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields: Readonly<Record<string, unknown>>): void;
  error(event: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What every feature may use of the world. Features extend it by what they read, write and call themselves. */
export interface KernelPorts {
  readonly store: Store;
  readonly recordedAnswers: RecordedAnswers;
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

/** Time that passes. */
export interface Timer {
  /** Resolves after `milliseconds`, or as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

// Stored documents that this version cannot read: somebody has changed them by hand, or a newer version
// wrote them. Whoever reads many steps over them, and whoever asks for one is told which it is.

/** Keeps account of such documents. */
export interface UnreadableDocuments {
  /** Never throws, and is cheap for one that is noted time and again. */
  note(path: string, error: unknown): void;
  /** Those that any instance has met in the last hour, as far as they can be counted: at most 1,000. */
  recent(): Promise<readonly string[]>;
}

export class UnreadableDocumentError extends MusterError {
  /** As far as the document says. */
  readonly ownerUid: string | undefined;

  constructor(path: string, ownerUid?: string) {
    super('FIREBASE_ERROR', `The stored document "${path}" cannot be read.`, {
      reason: 'UNREADABLE_DOCUMENT',
      suggestion:
        'It was changed by hand, or by a newer version of Muster. The log says what is wrong with it, at document_unreadable.',
    });
    this.name = 'UnreadableDocumentError';
    this.ownerUid = ownerUid;
  }
}

/** What is read, or undefined where it cannot be. */
export async function unlessUnreadable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError) return undefined;
    throw error;
  }
}

/** What is read; to others than its owner there is none where it cannot be, for nobody learns of another's. */
export async function readFor<Value>(ownerUid: string, reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableDocumentError && error.ownerUid !== ownerUid) return undefined;
    throw error;
  }
}
