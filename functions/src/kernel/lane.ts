/** Runs a limited number of works at once; further ones wait for their turn, in the order in which they came. */
export class Lane {
  private readonly most: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(most: number) {
    this.most = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.most) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The next one inherits the place.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
