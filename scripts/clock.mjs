// @ts-check
/**
 * npm run clock -- advance <duration>   moves the time of a running `npm start` forward: 90s, 15m, 2h, 1d, 1w, 1d12h
 * npm run clock -- show                 says what time it is there
 * npm run clock -- reset                goes back to the machine's own time
 *
 * All of Muster sees the moved time, and its schedules run once more when it has moved.
 */
import { moveClock } from './clock/clock.mjs';

try {
  process.stdout.write(`${await moveClock(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
