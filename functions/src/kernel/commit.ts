/**
 * How rules write. A service reads documents with their versions, decides purely, and commits a list
 * of changes: all or none. A change that names a version is refused as stale where the document has changed
 * since it was read, and the service then reads and decides again. No locks are held in between. A commit that met
 * only its own writes, because its answer was lost and it was sent again, has succeeded.
 */
import type { JsonObject } from './json.ts';
import type { Actor, Effect } from './trail.ts';

/** A document as it was read. `version` is opaque. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: string;
}

/**
 * A change of one of some kinds, each with what it needs to be carried out. Plain data, which tests compare. Each feature
 * declares its kinds, and their union in its `rules/changes.ts`. Source: docs/decisions/0027-declare-once.md.
 */
export type ChangeOf<Kinds> = {
  readonly [Kind in keyof Kinds]: { readonly kind: Kind } & Kinds[Kind];
}[keyof Kinds];

/** A change of any kind. */
export interface AnyChange {
  readonly kind: PropertyKey;
}

/** What commits of every feature may hold. */
export interface TrailChanges {
  /** Tells the trail of what a call has brought about that no other change of its commit shows. */
  readonly tell: { readonly effect: Effect };
}

/** Writes changes of a feature's kinds. */
export interface Store<Change extends AnyChange> {
  /**
   * @throws StaleWriteError when a document has changed since it was read
   * @throws MusterError CONFLICT with reason ALREADY_SETTLED when the answer of `record` is stored already
   * @throws LooseningError when an agent's call would loosen a limit
   * @throws UnansweredCommitError when nobody knows whether it was carried out
   */
  commit(changes: readonly Change[], record?: CallRecord): Promise<void>;
}

/** Makes the record of the call from its outcome, for the commit that brings it about. */
export type RecordAnswer<Outcome> = (outcome: Outcome) => CallRecord | undefined;

/** What a commit records of the call that it carries out. */
export interface CallRecord {
  /** Of whose changes the trail tells; absent where an operator works with a shell. */
  readonly by?: Actor | undefined;
  /** Where the call gave a key. */
  readonly answer?: RecordedAnswer | undefined;
  /** The entry of the trail that the call takes back. Stale where it is not at this version. */
  readonly undoes?: { readonly id: string; readonly version: string };
}

/** A document was changed by somebody else between its reading and the commit. */
export class StaleWriteError extends Error {
  constructor(options?: ErrorOptions) {
    super('A document changed after it was read.', options);
    this.name = 'StaleWriteError';
  }
}

/** The database has not answered: the commit may have been carried out, or be carried out yet. */
export class UnansweredCommitError extends Error {
  constructor(options?: ErrorOptions) {
    super('The database did not confirm the commit.', options);
    this.name = 'UnansweredCommitError';
  }
}

/** How long an answer can be replayed. Source: docs/semantics.md#shared. */
export const REPLAY_HOURS = 24;

/** The answer of a call with an idempotency key. */
export interface RecordedAnswer {
  readonly id: string;
  readonly arguments_hash: string;
  readonly answer: JsonObject;
  readonly expires_at: Date;
}

/** One call that writes. Its service commits `recordAnswer(answer)` with its changes: both are stored, or neither. */
export interface Operation {
  /** Who makes the call; absent where an operator works with a shell. */
  readonly by?: Actor;
  /** Tells this call from another one under the same key, or undefined where the caller gave no key. */
  readonly argumentsHash: string | undefined;
  /** The record to store with the change. Its answer is left out where the caller gave no key. */
  recordAnswer(answer: JsonObject): CallRecord | undefined;
  /**
   * A secret that a repetition of this very call derives again, so that it never has to be stored, or
   * undefined where the caller gave no key.
   * @param label tells apart the secrets of one operation
   */
  derivedSecret(label: string): string | undefined;
  /**
   * An id, 20 characters of `[a-f0-9]`, that a repetition of this very call derives again, or undefined where
   * the caller gave no key.
   * @param label tells apart the ids of one operation
   */
  derivedId(label: string): string | undefined;
}
