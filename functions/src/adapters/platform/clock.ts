import { readFileSync } from 'node:fs';
import type { Clock } from '../../domain/ports.ts';

export const systemClock: Clock = { now: () => new Date() };

/**
 * The emulators' time: the machine's, moved by as many milliseconds as the file says, where there is one. It is read
 * each time: `npm run clock` moves the time of every instance at once.
 */
export function movableClock(file: string): Clock {
  return { now: () => new Date(Date.now() + millisecondsIn(file)) };
}

function millisecondsIn(file: string): number {
  try {
    const milliseconds = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(milliseconds) ? milliseconds : 0;
  } catch {
    return 0; // nobody has moved it
  }
}
