import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 25;

/** Waits until the condition is true. The test's own timeout limits the wait. */
export async function until(look: () => boolean): Promise<void> {
  while (!look()) await delay(BETWEEN_LOOKS_MS);
}
