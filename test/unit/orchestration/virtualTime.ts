/** Simulated clock that advances only when all work waits for the clock. */
import type { Clock, Timer } from '../../../functions/src/kernel/ports.ts';
import { START } from '../../support/builders.ts';

interface Waiting {
  readonly at: number;
  readonly wake: () => void;
}

export class VirtualTime implements Clock, Timer {
  private readonly waiting = new Set<Waiting>();
  /** Simulated milliseconds since the start of the test. */
  elapsed = 0;

  now(): Date {
    return new Date(START.getTime() + this.elapsed);
  }

  wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.waiting.delete(entry);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const entry = { at: this.elapsed + milliseconds, wake };
      this.waiting.add(entry);
      signal.addEventListener('abort', wake);
    });
  }

  /** Returns the result of the work. Advances the clock whenever the work waits for it. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    ended.catch(() => undefined); // The caller of this method handles the rejection.
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver) return ended;
      const [next] = [...this.waiting].sort((left, right) => left.at - right.at);
      if (next === undefined) throw new Error('Deadlock: no wait is pending.');
      this.elapsed = Math.max(this.elapsed, next.at);
      next.wake();
    }
  }

  /** Number of waits that have not ended. */
  get left(): number {
    return this.waiting.size;
  }
}
