/** One request to one agent, and how it ended: what a run's record is made of. */
import { FAILURE_CLASSES, type ModelAnswer, type ModelFailure, type Usage } from '../ports.ts';

export interface PlannedAttempt {
  /** Which call of its step: `claude`, `judge:gemini`. */
  readonly call: string;
  /** Counts the call's requests to this agent, from 1; 0 where it was not asked. */
  readonly number: number;
  readonly agent: string;
  readonly model: string;
  /** Milliseconds waited before it. */
  readonly waited: number;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly maxOutputTokens: number;
}

/**
 * `answered`, or why not; `unavailable` and `over_budget` were never asked, and of an `interrupted` one nobody knows,
 * since the instance that made it died.
 */
export const ATTEMPT_ENDS = [
  'answered',
  'unavailable',
  'over_budget',
  'interrupted',
  ...FAILURE_CLASSES,
] as const;

export type AttemptEnd = (typeof ATTEMPT_ENDS)[number];

export interface Attempt {
  readonly call: string;
  readonly number: number;
  readonly agent: string;
  readonly model: string;
  readonly waited: number;
  readonly end: AttemptEnd;
  /** Why it failed, in words. */
  readonly reason?: string;
  readonly milliseconds: number;
  /** As far as it is known. */
  readonly usage: Usage;
  readonly costUsd: number;
  /** The vendor may have done the work all the same, and billed it. */
  readonly outcomeUnknown: boolean;
}

export type Settled = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };

/** Where attempts are noted before they are made and after they have ended. */
export interface AttemptJournal {
  /**
   * Before the request is made.
   * @returns how this very attempt ended, where it was made before: it is then not made again, nor noted
   */
  begin(attempt: PlannedAttempt): Promise<Settled | undefined>;
  end(attempt: Attempt, settled: Settled): Promise<void>;
}
