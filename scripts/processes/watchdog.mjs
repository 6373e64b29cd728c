// @ts-check
/** `node watchdog.mjs <tag>`: outlives the process that started it, to clean up after it. */
import { afterOwner } from '../../runner/src/process/ending.mjs';
import { closeRun } from './run.mjs';

const tag = process.argv[2];
afterOwner(async () => {
  if (tag !== undefined) await closeRun(tag);
});
