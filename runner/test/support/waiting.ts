import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 25;

/** Polls a condition. The test's own timeout ends the wait if it never becomes true. */
export async function until(look: () => boolean): Promise<void> {
  while (!look()) await delay(BETWEEN_LOOKS_MS);
}
