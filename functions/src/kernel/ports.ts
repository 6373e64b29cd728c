/** What rules need of the world. Tests may bind a clock of their own. */
import type { RecordedAnswer, Store } from './commit.ts';
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

/** A structured log. Adapters write Cloud Logging entries. */
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

/** Time that passes. */
export interface Timer {
  /** Resolves after `milliseconds`, or as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}
