/** Number of ticks in the maximum silence. With fewer ticks, the duration would be less exact. */
const TICKS = 20;

/**
 * Detects that a program prints nothing for too long. Time is counted in ticks of a timer. While the machine is
 * suspended or the runner is stopped, the program cannot print, and no tick is counted.
 */
export class SilenceWatch {
  readonly silent: Promise<void>;
  private report: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private expecting = false;
  private readonly onHalf: () => void;

  /** @param onHalf called when half of the time has passed without output */
  constructor(milliseconds: number, onHalf: () => void = () => undefined) {
    this.onHalf = onHalf;
    this.silent = new Promise((resolve) => {
      this.report = resolve;
    });
    this.start(milliseconds);
  }

  activity(): void {
    // After a call of `expect`, further output does not extend the time.
    if (!this.expecting) this.ticks = 0;
  }

  /** Reports after this time, even if the program prints. Later calls do nothing and return false. */
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
      if (this.ticks === TICKS / 2 && !this.expecting) this.onHalf();
      // The first tick after an output can come early, so one more tick than TICKS is required.
      if (this.ticks <= TICKS) return;
      this.stop();
      this.report();
    }, milliseconds / TICKS);
  }
}
