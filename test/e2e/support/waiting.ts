import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between checks. They grow with the time waited so far, because each check costs processor time. */
const BETWEEN_LOOKS = { leastMs: 100, mostMs: 500, share: 1 / 4 };

/** Default timeout. An operation that takes a second can take a minute on a busy machine. */
const PATIENCE_MS = 120_000;

/**
 * Repeats a check until it returns a value, and returns the value.
 * @param what expected state, for the error message after the timeout
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    const waitedMs = Date.now() - began;
    if (waitedMs > patienceMs) throw new Error(`Timeout after ${patienceMs / 1000} s. Expected: ${what}.`);
    const { leastMs, mostMs, share } = BETWEEN_LOOKS;
    await delay(Math.min(mostMs, Math.max(leastMs, share * waitedMs)));
  }
}
