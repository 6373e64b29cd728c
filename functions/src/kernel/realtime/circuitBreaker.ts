/** The circuit breaker for when the Realtime Database is away. */
import { inTime } from '../waiting.ts';

const TIMEOUT_MILLISECONDS = 1000;

/** Waits a second for the Realtime Database, whose client waits for ever; while an answer is overdue, not at all. */
export class CircuitBreaker {
  /** Answers that were waited for in vain and have not come since. */
  private overdue = 0;

  /** @throws Error while something is waited for in vain */
  requireAnswering(): void {
    if (this.overdue > 0) throw new Error('The Realtime Database has not responded yet.');
  }

  /** `start` is given a signal that nobody waits any more. @throws Error where it takes longer than a second */
  async waitFor<T>(start: (late: AbortSignal) => Promise<T>): Promise<T> {
    this.requireAnswering();
    const late = new AbortController();
    let hasEnded = false;
    const work = start(late.signal).finally(() => {
      hasEnded = true;
    });
    return inTime(work, TIMEOUT_MILLISECONDS, 'The Realtime Database').catch((error: unknown) => {
      if (!hasEnded) {
        late.abort();
        this.overdue += 1;
        void work
          .catch(() => undefined)
          .finally(() => {
            this.overdue -= 1;
          });
      }
      throw error;
    });
  }
}
