/** How long a call has only waited. Waits at the same time count once, and one that goes on counts so far. */
import type { Waiting } from '../domain/waiting.ts';

export class WaitingTime {
  private readonly now: () => number;
  private open = 0;
  private since = 0;
  private ended = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.now = now;
  }

  readonly during: Waiting = async (wait) => {
    if (this.open === 0) this.since = this.now();
    this.open += 1;
    try {
      return await wait;
    } finally {
      this.open -= 1;
      if (this.open === 0) this.ended += this.now() - this.since;
    }
  };

  get milliseconds(): number {
    return this.open === 0 ? this.ended : this.ended + this.now() - this.since;
  }
}
