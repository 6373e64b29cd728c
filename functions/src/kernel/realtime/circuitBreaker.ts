/**
 * Waiting for the Realtime Database, whose client waits for a lost one for ever. A caller waits a second, and
 * while an answer is overdue nobody waits at all.
 */
import { inTime } from '../waiting.ts';

const TIMEOUT_MILLISECONDS = 1000;

export class CircuitBreaker {
  /** Answers that were waited for in vain and have not come since. */
  private overdue = 0;

  /** Whether something is waited for in vain. */
  get isOverdue(): boolean {
    return this.overdue > 0;
  }

  /**
   * @param start given a signal that nobody waits any more
   * @throws Error where it takes longer than a second
   */
  async waitFor<T>(start: (late: AbortSignal) => Promise<T>): Promise<T> {
    if (this.isOverdue) throw stillAway();
    const late = new AbortController();
    let hasEnded = false;
    const work = start(late.signal).finally(() => {
      hasEnded = true;
    });
    return inTime(work, TIMEOUT_MILLISECONDS, 'The Realtime Database').catch((error: unknown) => {
      if (!hasEnded) this.giveUp(work, late);
      throw error;
    });
  }

  private giveUp(work: Promise<unknown>, late: AbortController): void {
    late.abort();
    this.overdue += 1;
    void work
      .catch(() => undefined)
      .finally(() => {
        this.overdue -= 1;
      });
  }
}

export function stillAway(): Error {
  return new Error('The Realtime Database has still not answered.');
}
