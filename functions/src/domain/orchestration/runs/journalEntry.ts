/** One request to a model as the journal has it. */
import type { Attempt, Settled } from '../calls/attempt.ts';

/** `runs/{runId}/calls/{id}`. */
export interface JournalEntry {
  readonly id: string;
  /** The id of the step that it belongs to. */
  readonly step: string;
  /** Which call of the step, and which attempt at it. */
  readonly call: string;
  readonly number: number;
  /** How many instances died in the middle of this very attempt. */
  readonly repetition: number;
  readonly agent: string;
  readonly model: string;
  /** SHA-256 of the system prompt and the prompt. */
  readonly inputHash: string;
  /** Estimated. */
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly waited: number;
  readonly startedAt: Date;
  /** Absent while nobody knows how it ended. */
  readonly ending?: JournalEnding;
}

export interface JournalEnding {
  readonly at: Date;
  readonly attempt: Attempt;
  readonly settled: Settled;
}
