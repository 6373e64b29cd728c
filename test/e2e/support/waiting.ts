import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 100;

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
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error(`Waited ${patienceMs / 1000} s in vain: ${what}.`);
    await delay(BETWEEN_LOOKS_MS);
  }
}
