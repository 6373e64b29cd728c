/** Clock and timers of a page. Time passes only when a test says so. Timers without a delay run immediately. */

/** When each page opens: a Tuesday at noon, in the time zone of this machine. */
export const NOW = new Date(2026, 10, 24, 12);

interface Timer {
  readonly run: () => void;
  readonly every: number | undefined;
  at: number;
}

export class Clock {
  private now = NOW.getTime();
  private readonly timers = new Map<number, Timer>();
  private last = 0;

  /** Replaces the functions of a browser. */
  get globals() {
    const stop = (id: number) => this.timers.delete(id);
    return {
      Date: new Proxy(Date, {
        construct: (date, args) => Reflect.construct(date, args.length === 0 ? [this.now] : args),
        get: (date, name) => (name === 'now' ? () => this.now : Reflect.get(date, name)),
      }),
      setTimeout: (run: () => void, after = 0) => this.start(run, after),
      setInterval: (run: () => void, every: number) => this.start(run, every, every),
      clearTimeout: stop,
      clearInterval: stop,
    };
  }

  /** Runs each timer that is due once, in order. */
  pass(milliseconds: number): void {
    this.now += milliseconds;
    const due = [...this.timers].filter(([, { at }]) => at <= this.now).sort(([, one], [, other]) => one.at - other.at);
    for (const [id] of due) this.fire(id);
  }

  private start(run: () => void, after: number, every?: number): number {
    const id = ++this.last;
    this.timers.set(id, { run, every, at: this.now + after });
    if (after === 0) setImmediate(() => this.fire(id));
    return id;
  }

  private fire(id: number): void {
    const timer = this.timers.get(id);
    if (timer === undefined) return;
    if (timer.every === undefined) this.timers.delete(id);
    else timer.at = this.now + timer.every;
    timer.run();
  }
}
