/** A silence ends after so many ticks: fewer would make it less exact. */
const TICKS = 20;

/**
 * Notices when nothing is heard for too long. It counts ticks: a machine that sleeps, or a runner that is stopped,
 * misses ticks, and the program that it watches could not print anything either.
 */
export class SilenceWatch {
  /** Resolves once, when the silence was too long. */
  readonly silent: Promise<void>;
  private report: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private expecting = false;

  constructor(milliseconds: number) {
    this.silent = new Promise((resolve) => {
      this.report = resolve;
    });
    this.start(milliseconds);
  }

  heard(): void {
    // Once the end is near, more words do not put it off.
    if (!this.expecting) this.ticks = 0;
  }

  /** From now on, that long at most. Returns whether this is new. */
  expect(milliseconds: number): boolean {
    if (this.expecting) return false;
    this.expecting = true;
    this.start(milliseconds);
    return true;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private start(milliseconds: number): void {
    this.stop();
    this.ticks = 0;
    this.timer = setInterval(() => {
      this.ticks += 1;
      // The first tick comes early if something was heard just before it.
      if (this.ticks <= TICKS) return;
      this.stop();
      this.report();
    }, milliseconds / TICKS);
  }
}
