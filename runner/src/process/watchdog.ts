/** `watchdog <mark>`: outlives a runner that is killed just long enough to end what it had started. */
import { endProcesses } from './ending.ts';

const mark = process.argv[2];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.resume();
process.stdin.on('error', () => undefined);
process.stdin.on('close', async () => {
  if (mark !== undefined && mark !== '') await endProcesses(mark);
  process.exit(0);
});
