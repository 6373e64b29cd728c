// @ts-check
/** Moves the time of a running `npm start`, for all functions, and runs each schedule once. */
import { moveClock, usage } from './clock/clock.mjs';
import { reachThisMachineDirectly } from './setup/proxy.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(usage);
reachThisMachineDirectly();
try {
  process.stdout.write(`${await moveClock(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
