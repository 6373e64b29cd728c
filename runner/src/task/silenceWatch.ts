/** Ticks per silence. Fewer would be less exact. */
const TICKS = 20;

/**
 * Detects too long a silence. It counts ticks, because a suspended machine or a stopped runner misses ticks, and the
 * watched program cannot print anything either.
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
    // After `expect`, further output does not extend the time.
    if (!this.expecting) this.ticks = 0;
  }

  /** Limits the remaining time. Returns whether this is the first call. */
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
      // The first tick comes early if output preceded it.
      if (this.ticks <= TICKS) return;
      this.stop();
      this.report();
    }, milliseconds / TICKS);
  }
}
