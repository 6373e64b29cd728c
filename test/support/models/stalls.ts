/**
 * How long this process was kept from running: by others on a busy machine, or by work that blocks it. A promise to
 * react within some time can only be held in the time that the process was given.
 */
const TICK_MILLISECONDS = 5;

/** Shorter gaps are the timer's own imprecision. */
const NOTICED_MILLISECONDS = 15;

export class Stalls {
  private readonly gaps: { readonly from: number; readonly to: number }[] = [];
  private last = performance.now();
  private readonly timer = setInterval(() => this.note(), TICK_MILLISECONDS).unref();

  stop(): void {
    clearInterval(this.timer);
  }

  /** Milliseconds in which nothing could run, between two instants of `performance.now()`. */
  between(from: number, to: number): number {
    this.note();
    return this.gaps.reduce(
      (sum, gap) => sum + Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from)),
      0,
    );
  }

  private note(): void {
    const now = performance.now();
    if (now - this.last >= NOTICED_MILLISECONDS) this.gaps.push({ from: this.last, to: now });
    this.last = now;
  }
}
