/** When the runner looks again whether a coding agent works that its machine or account had stopped. */

/** One point in time by two clocks, in milliseconds. */
export interface Instant {
  /** Since 1970; can be set. */
  readonly wall: number;
  /** Since the runner started; only grows. */
  readonly steady: number;
}

export interface Clock {
  now(): Instant;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export type Wait =
  /** The CLI has said when its limit ends, in milliseconds since 1970. */
  | { readonly kind: 'reset'; readonly at: number }
  /** A probe decides, at this time of the steady clock. `probes` is how many have failed. */
  | { readonly kind: 'probe'; readonly at: number; readonly probes: number };

const FIRST_PROBE_MS = 60_000;
const LAST_PROBE_MS = 15 * 60_000;

/** Limits are by the week at most: a later time is a mistake. */
const LONGEST_RESET_MS = 8 * 24 * 60 * 60_000;

/** @param resetsAt when the limit ends, if the CLI has said so, in milliseconds since 1970 */
export function firstWait(now: Instant, resetsAt: number | undefined): Wait {
  if (resetsAt !== undefined && resetsAt > now.wall && resetsAt <= now.wall + LONGEST_RESET_MS)
    return { kind: 'reset', at: Math.max(resetsAt, now.wall + FIRST_PROBE_MS) };
  return { kind: 'probe', at: now.steady + FIRST_PROBE_MS, probes: 0 };
}

/** The wait after a probe has failed: twice as long as before, 15 minutes at most. */
export function nextWait({ probes }: Wait & { kind: 'probe' }, now: Instant): Wait {
  const wait = Math.min(FIRST_PROBE_MS * 2 ** (probes + 1), LAST_PROBE_MS);
  return { kind: 'probe', at: now.steady + wait, probes: probes + 1 };
}

/** Milliseconds until the wait is over; 0 or less if it is. */
export function timeLeft(wait: Wait, now: Instant): number {
  return wait.at - (wait.kind === 'reset' ? now.wall : now.steady);
}
