// @ts-check
/**
 * `watchdog <entry>`: when its runner is killed, ends all processes whose environment has the entry. Each runner
 * starts a watchdog. This file is JavaScript, because Node loads JavaScript twice as fast as TypeScript.
 */
import { afterOwner, endMarked, GENTLE_MS } from './ending.mjs';

const entry = process.argv[2];
afterOwner(async () => {
  if (entry !== undefined && entry !== '') await endMarked(entry, { gentleMs: GENTLE_MS });
});
