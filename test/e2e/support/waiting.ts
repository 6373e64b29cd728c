import { setTimeout as delay } from 'node:timers/promises';

/** Each look at a deployment takes a part of the machine, so what takes longer is looked for less often. */
const BETWEEN_LOOKS = { leastMs: 100, mostMs: 500, share: 1 / 4 };

/** What takes a second may take a minute where many things run. */
const PATIENCE_MS = 120_000;

/**
 * Looks until there is something to see.
 * @param what said when it never came
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
