// @ts-check
/**
 * `watchdog <entry>`: when its runner is killed, ends all processes whose environment has the entry. Each runner
 * starts a watchdog. It is JavaScript, because Node loads that in half the time.
 */
import { afterOwner, endMarked, GENTLE_MS } from './ending.mjs';

const entry = process.argv[2];
afterOwner(async () => {
  if (entry !== undefined && entry !== '') await endMarked(entry, { gentleMs: GENTLE_MS });
});
