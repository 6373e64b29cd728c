// @ts-check
/** `node watchdog.mjs <tag>` waits until the process that started it has ended, and then cleans up after its run. */
import { afterOwner } from '../../runner/src/process/ending.mjs';
import { closeRun } from './run.mjs';

const tag = process.argv[2];
afterOwner(async () => {
  if (tag !== undefined) await closeRun(tag);
});
