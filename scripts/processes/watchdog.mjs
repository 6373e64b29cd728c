// @ts-check
/** `node watchdog.mjs <tag>`: outlives the process that started it just long enough to clear up after it. */
import { closeRun } from './run.mjs';

const tag = process.argv[2];
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => {});
process.stdin.resume();
process.stdin.on('error', () => {});
process.stdin.on('close', async () => {
  if (tag !== undefined) await closeRun(tag);
  process.exit(0);
});
