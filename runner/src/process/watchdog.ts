/** `watchdog <mark>`: outlives a runner that is killed just long enough to end what it had started. */
import { afterOwner } from './ending.mjs';
import { endProcesses } from './identity.ts';

const mark = process.argv[2];
afterOwner(async () => {
  if (mark !== undefined && mark !== '') await endProcesses(mark);
});
