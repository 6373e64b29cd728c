/** Schedule of the probes that check whether an unavailable coding agent works again. */

/** Point in time on two clocks, in milliseconds. */
export interface Instant {
  /** Milliseconds since 1970. Jumps if the system clock is changed. */
  readonly wall: number;
  /** Milliseconds since the runner started, from a clock that never jumps. */
  readonly steady: number;
}

export interface Clock {
  now(): Instant;
  /** Resolves after the delay, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export type Wait =
  /** End of the limit that the CLI reported, in milliseconds since 1970. */
  | { readonly kind: 'reset'; readonly at: number }
  /** Time of the next probe, as `Instant.steady`. `probes` counts failed probes. */
  | { readonly kind: 'probe'; readonly at: number; readonly probes: number };

const FIRST_PROBE_MS = 60_000;
const LAST_PROBE_MS = 15 * 60_000;

/** Limits last a week at most, so a reported end that is later than this is ignored. */
const MAX_RESET_MS = 8 * 24 * 60 * 60_000;

/** @param resetsAt end of the limit, if the CLI reported it, in milliseconds since 1970 */
export function firstWait(now: Instant, resetsAt: number | undefined): Wait {
  if (resetsAt !== undefined && resetsAt > now.wall && resetsAt <= now.wall + MAX_RESET_MS)
    return { kind: 'reset', at: Math.max(resetsAt, now.wall + FIRST_PROBE_MS) };
  return { kind: 'probe', at: now.steady + FIRST_PROBE_MS, probes: 0 };
}

/** Returns the wait after a failed probe: twice as long as the previous wait, at most 15 minutes. */
export function nextWait({ probes }: Wait & { kind: 'probe' }, now: Instant): Wait {
  const wait = Math.min(FIRST_PROBE_MS * 2 ** (probes + 1), LAST_PROBE_MS);
  return { kind: 'probe', at: now.steady + wait, probes: probes + 1 };
}

/** Returns the milliseconds until the wait ends; 0 or less if it has ended. */
export function timeLeft(wait: Wait, now: Instant): number {
  return wait.at - (wait.kind === 'reset' ? now.wall : now.steady);
}
