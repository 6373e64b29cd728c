// @ts-check
/**
 * `watchdog <entry>`: ends the processes whose environment has the entry when its runner is killed. Each runner
 * starts one, so it is JavaScript, which Node loads in half the time.
 */
import { afterOwner, endMarked, GENTLE_MS } from './ending.mjs';

const entry = process.argv[2];
afterOwner(async () => {
  if (entry !== undefined && entry !== '') await endMarked(entry, { gentleMs: GENTLE_MS });
});
