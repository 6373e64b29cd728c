/**
 * Optimistic commits. A service reads documents with their versions, decides without I/O, and commits a list of
 * changes atomically. If a change names a version and its document changed since the read, the commit is refused as
 * stale, and the service reads and decides again. No locks are held. If a commit is resent after a lost response and
 * meets only its own writes, it has succeeded.
 */
import type { Actor, AuditEffect } from './auditLog.ts';
import type { JsonObject } from './json.ts';

/** Value of a document, with the opaque version at which the document was read. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly version: string;
}

/**
 * Union of the kinds of changes. Each change is plain data, so that tests can compare changes. Each feature declares
 * its kinds and their union in its `rules/changes.ts`. Source: docs/decisions/0027-declare-once.md.
 */
export type ChangeOf<Kinds> = {
  readonly [Kind in keyof Kinds]: { readonly kind: Kind } & Kinds[Kind];
}[keyof Kinds];

export interface AnyChange {
  readonly kind: PropertyKey;
}

/** Kinds of changes that the commits of every feature may include. */
export interface AuditChanges {
  /** Adds to the audit log an effect that no other change of the commit adds. */
  readonly audit: { readonly effect: AuditEffect };
}

export interface Store<Change extends AnyChange> {
  /**
   * @throws StaleWriteError if a document changed since it was read
   * @throws MusterError CONFLICT with reason ALREADY_SETTLED if a result is already stored for the key of `record`
   * @throws LooseningError if an agent's call would loosen a limit
   * @throws UnknownCommitOutcomeError if it is unknown whether the commit was applied
   */
  commit(changes: readonly Change[], record?: CallRecord): Promise<void>;
}

/** Returns the record of a call with this outcome. The commit that produces the outcome stores the record. */
export type RecordResponse<Outcome> = (outcome: Outcome) => CallRecord | undefined;

export interface CallRecord {
  /** Caller in the audit log; absent if an operator works in a shell. */
  readonly by?: Actor | undefined;
  /** Response to return if the call is repeated; absent if the call has no idempotency key. */
  readonly response?: RecordedResponse | undefined;
  /** Audit entry that the call undoes. The commit is refused as stale if the entry has another version. */
  readonly undoes?: { readonly id: string; readonly version: string };
  /** Called with the new version of the task or run that the first change replaced, if Firestore's response arrived. */
  readonly onVersion?: (version: string) => void;
}

/** Another writer changed a document between the read and the commit. */
export class StaleWriteError extends Error {
  constructor(options?: ErrorOptions) {
    super('A document changed after it was read.', options);
    this.name = 'StaleWriteError';
  }
}

/** The database did not respond, so the commit may have been applied, or may be applied later. */
export class UnknownCommitOutcomeError extends Error {
  constructor(options?: ErrorOptions) {
    super('The database did not confirm the commit.', options);
    this.name = 'UnansweredCommitError';
  }
}

/** Time for which a repeated call returns the stored result, in hours. Source: docs/semantics.md#shared-behavior. */
export const IDEMPOTENCY_HOURS = 24;

export interface RecordedResponse {
  readonly id: string;
  readonly arguments_hash: string;
  readonly answer: JsonObject;
  readonly expires_at: Date;
}

/** One call that writes. Its service commits `recordResponse(response)` together with the call's changes. */
export interface Operation {
  /** Caller; absent if an operator works in a shell. */
  readonly by?: Actor;
  /** Hash of the arguments, which distinguishes calls with the same key; undefined if the caller sent no key. */
  readonly argumentsHash: string | undefined;
  /** Returns the record to commit with the changes. The record has no response if the caller sent no key. */
  recordResponse(answer: JsonObject): CallRecord | undefined;
  /**
   * Returns a secret that is not stored: if the call is repeated, the same secret is derived again. Returns undefined
   * if the caller sent no key.
   */
  derivedSecret(label: string): string | undefined;
  /**
   * Returns an id of 20 characters of `[a-f0-9]`. If the call is repeated, the same id is derived again. Returns
   * undefined if the caller sent no key.
   */
  derivedId(label: string): string | undefined;
}
