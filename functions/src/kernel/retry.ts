import { StaleWriteError } from './commit.ts';
import { MusterError } from './errors.ts';
import type { Randomness } from './ports.ts';

const MAX_ATTEMPTS = 25;
const LONGEST_WAIT_MILLISECONDS = 200;

/**
 * Reads, decides and commits again for as long as somebody else's commit comes in between.
 * @throws MusterError CONFLICT when it never gets through
 */
export async function retryStale<Result>(
  randomness: Randomness,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  for (let number = 0; number < MAX_ATTEMPTS; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      await wait(randomness.integer(Math.min(LONGEST_WAIT_MILLISECONDS, 5 * 2 ** number)));
    }
  }
  throw new MusterError('CONFLICT', 'Too many changes at once to the same data.', {
    reason: 'CONTENTION',
    suggestion: 'This call has changed nothing. Call again.',
  });
}

/** Whether it was committed: not where somebody else has changed or removed meanwhile what it builds on. */
export async function unlessStale(committing: Promise<void>): Promise<boolean> {
  try {
    await committing;
    return true;
  } catch (error) {
    if (error instanceof StaleWriteError) return false;
    throw error;
  }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
