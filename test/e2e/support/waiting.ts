import { setTimeout as delay } from 'node:timers/promises';

/** Each check of a deployment uses the machine, so long waits are checked less often. */
const BETWEEN_LOOKS = { leastMs: 100, mostMs: 500, share: 1 / 4 };

/** An operation of a second may take a minute on a busy machine. */
const PATIENCE_MS = 120_000;

/**
 * Checks until the value is defined.
 * @param what description in the error after the timeout
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
    if (waitedMs > patienceMs) throw new Error(`Waited ${patienceMs / 1000} s in vain: ${what}.`);
    const { leastMs, mostMs, share } = BETWEEN_LOOKS;
    await delay(Math.min(mostMs, Math.max(leastMs, share * waitedMs)));
  }
}
