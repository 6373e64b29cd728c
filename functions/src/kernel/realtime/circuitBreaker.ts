/** Circuit breaker for an unreachable Realtime Database. */
import { withTimeout } from '../concurrency.ts';

const TIMEOUT_MS = 1000;

/** Waits one second per request, because the client would wait forever. Fails at once while a response is overdue. */
export class CircuitBreaker {
  /** Number of responses that timed out and have not arrived since. */
  private overdue = 0;

  /** @throws Error while a response is overdue */
  requireClosed(): void {
    if (this.overdue > 0) throw new Error('The Realtime Database has not responded yet.');
  }

  /** `start` gets a signal that fires on timeout. @throws Error after one second without a response */
  async waitFor<T>(start: (late: AbortSignal) => Promise<T>): Promise<T> {
    this.requireClosed();
    const late = new AbortController();
    let hasEnded = false;
    const work = start(late.signal).finally(() => {
      hasEnded = true;
    });
    return withTimeout(work, TIMEOUT_MS, 'The Realtime Database').catch((error: unknown) => {
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
