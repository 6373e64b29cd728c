/** How long a request may take, and what is said where a call of it takes longer. */
import { type ErrorDetails, MusterError } from '../kernel/errors.ts';
import { within } from '../kernel/waiting.ts';

/** Under the 60 s after which clients give up, so that it is us who answer. */
const REQUEST_MILLISECONDS = 50_000;

/** Milliseconds until the request must have been answered, and never less than none. */
export type TimeLeft = () => number;

/** To be made when the request comes in: authentication and all the calls of a batch take from the same time. */
export function timeLeftOfRequest(): TimeLeft {
  const end = performance.now() + REQUEST_MILLISECONDS;
  return () => Math.max(0, end - performance.now());
}

/** @throws MusterError TIMEOUT where the time was over before anything was begun */
export function requireTime(timeLeft: TimeLeft): void {
  if (timeLeft() > 0) return;
  const message = `The ${REQUEST_MILLISECONDS / 1000} seconds of this request were over before the call began: it was not run.`;
  throw new MusterError('TIMEOUT', message, { reason: 'NOT_RUN', suggestion: 'Call again.' });
}

/** What the caller of a late call is told: what it is about, and what to do. */
export type Late = Pick<ErrorDetails, 'about' | 'suggestion'>;

/** What a call knows of its own deadline. */
export interface Punctuality {
  /** A tool that waits leaves of this what it needs to answer. */
  readonly timeLeft: TimeLeft;
  /** Says what the caller is told where the time is over before the answer. What comes later replaces it. */
  ifLate(late: Late): void;
}

/** Of a call that says nothing of its own. */
export const LOOK_FIRST: Late = {
  suggestion: 'Look whether it took effect before you repeat it, or repeat it with its idempotency_key.',
};

/**
 * @param late is asked when it is too late
 * @throws MusterError TIMEOUT where the work takes longer; the work itself goes on
 */
export function withDeadline<T>(
  work: Promise<T>,
  milliseconds: number,
  late: () => Late = () => LOOK_FIRST,
): Promise<T> {
  return within(milliseconds, work, () => {
    const message = `No answer within ${Math.round(milliseconds / 100) / 10} seconds.`;
    return new MusterError('TIMEOUT', message, late());
  });
}
