import type { JsonObject } from '../json.ts';

/** How long an answer can be replayed. Source: docs/semantics.md#shared. */
export const REPLAY_HOURS = 24;

/** The stored trace of a settled operation: `idempotency/{id}`. */
export interface SettledOperation {
  /** A digest of the caller, the tool and the caller's key. */
  readonly id: string;
  readonly argumentsHash: string;
  readonly answer: JsonObject;
  readonly expiresAt: Date;
}

/**
 * One call that writes. The service that serves it puts `settle(answer)` into the same commit as its
 * changes, so that the change and the proof that it happened are stored together or not at all.
 */
export interface Operation {
  /** Tells this call from another one under the same key, or undefined where the caller gave no key. */
  readonly argumentsHash: string | undefined;
  /** The record to store with the change, or undefined where the caller gave no key. */
  settle(answer: JsonObject): SettledOperation | undefined;
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
