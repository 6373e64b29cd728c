/** Notices when nothing is heard for too long. */
export class SilenceWatch {
  /** Resolves when it was silent for too long, and never again after. */
  readonly silent: Promise<void>;
  private report: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private milliseconds: number;
  private expecting = false;

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
    this.silent = new Promise((resolve) => {
      this.report = resolve;
    });
    this.restart();
  }

  heard(): void {
    // Once the end is near, more words do not put it off.
    if (!this.expecting) this.restart();
  }

  /** From now on, that long at most. Returns whether this is new. */
  expect(milliseconds: number): boolean {
    if (this.expecting) return false;
    this.expecting = true;
    this.milliseconds = milliseconds;
    this.restart();
    return true;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.report, this.milliseconds);
  }
}
