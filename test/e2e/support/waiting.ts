import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 100;

/**
 * Looks until there is something to see.
 * @param what said when it never came
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
  patienceMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error(`Waited ${patienceMs / 1000} s in vain: ${what}.`);
    await delay(BETWEEN_LOOKS_MS);
  }
}
