/** Circuit breaker for an unreachable Realtime Database. */
import { withTimeout } from '../concurrency.ts';

const TIMEOUT_MS = 1000;

/** Ends requests after a second (the client has no timeout). While a request is overdue, others fail immediately. */
export class CircuitBreaker {
  /** Number of requests that have timed out and are still unanswered. */
  private overdue = 0;

  /** @throws Error while a response is overdue */
  requireClosed(): void {
    if (this.overdue > 0) throw new Error('The Realtime Database has not responded yet.');
  }

  /** `start` gets a signal that aborts on timeout. @throws Error if the response takes longer than one second */
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
