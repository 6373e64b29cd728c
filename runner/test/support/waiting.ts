import { setTimeout as delay } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 25;

/** Looks until it is so; the test's own time-out ends what never comes. */
export async function until(look: () => boolean): Promise<void> {
  while (!look()) await delay(BETWEEN_LOOKS_MS);
}
