/**
 * Optimistic commits. A service reads documents with their versions, decides without I/O, and commits a list of
 * changes atomically. If a change names a version and its document changed since the read, the commit is refused as
 * stale, and the service reads and decides again. No locks are held. If a commit is resent after a lost response and
 * meets only its own writes, it has succeeded.
 */

import type { Actor, AuditEffect } from './auditLog.ts';
import type { JsonObject } from './json.ts';

/** A document as read. `version` is opaque. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: string;
}

/**
 * Changes of several kinds, each with the data to apply it. Plain data, which tests compare. Each feature declares
 * its kinds and their union in its `rules/changes.ts`. Source: docs/decisions/0027-declare-once.md.
 */
export type ChangeOf<Kinds> = {
  readonly [Kind in keyof Kinds]: { readonly kind: Kind } & Kinds[Kind];
}[keyof Kinds];

export interface AnyChange {
  readonly kind: PropertyKey;
}

/** Changes that a commit of any feature may include. */
export interface AuditChanges {
  /** Adds an effect to the audit log that no other change of the commit shows. */
  readonly audit: { readonly effect: AuditEffect };
}

/** Commits changes of a feature's kinds. */
export interface Store<Change extends AnyChange> {
  /**
   * @throws StaleWriteError if a document changed since it was read
   * @throws MusterError CONFLICT with reason ALREADY_SETTLED if a result is already stored for the key of `record`
   * @throws LooseningError if an agent's call would loosen a limit
   * @throws UnknownCommitOutcomeError if it is unknown whether the commit was applied
   */
  commit(changes: readonly Change[], record?: CallRecord): Promise<void>;
}

/** Creates the call's record from its outcome, for the commit that produces the outcome. */
export type RecordResponse<Outcome> = (outcome: Outcome) => CallRecord | undefined;

/** Data about a call that its commit records. */
export interface CallRecord {
  /** Actor in the audit log; absent if an operator works in a shell. */
  readonly by?: Actor | undefined;
  /** Absent if the call has no idempotency key. */
  readonly response?: RecordedResponse | undefined;
  /** Audit entry that the call undoes. The commit is stale if the entry is at another version. */
  readonly undoes?: { readonly id: string; readonly version: string };
}

/** A document was changed by another writer between its read and the commit. */
export class StaleWriteError extends Error {
  constructor(options?: ErrorOptions) {
    super('A document changed after it was read.', options);
    this.name = 'StaleWriteError';
  }
}

/** The database did not respond: the commit may have been applied, or may still be applied. */
export class UnknownCommitOutcomeError extends Error {
  constructor(options?: ErrorOptions) {
    super('The database did not confirm the commit.', options);
    this.name = 'UnansweredCommitError';
  }
}

/** Hours for which a result can be replayed. Source: docs/semantics.md#shared-behavior. */
export const IDEMPOTENCY_HOURS = 24;

/** Stored result of a call with an idempotency key. */
export interface RecordedResponse {
  readonly id: string;
  readonly arguments_hash: string;
  readonly answer: JsonObject;
  readonly expires_at: Date;
}

/** One writing call. Its service commits `recordResponse(response)` together with its changes. */
export interface Operation {
  /** Caller; absent if an operator works in a shell. */
  readonly by?: Actor;
  /** Distinguishes calls with the same key; undefined if the caller sent no key. */
  readonly argumentsHash: string | undefined;
  /** Returns the record to commit with the changes. It has no answer if the caller sent no key. */
  recordResponse(answer: JsonObject): CallRecord | undefined;
  /**
   * Returns a secret that a repetition of this call derives again, so that it is never stored; undefined if the
   * caller sent no key.
   * @param label distinguishes the secrets of one operation
   */
  derivedSecret(label: string): string | undefined;
  /**
   * Returns an id, 20 characters of `[a-f0-9]`, that a repetition of this call derives again; undefined if the caller
   * sent no key.
   * @param label distinguishes the ids of one operation
   */
  derivedId(label: string): string | undefined;
}
