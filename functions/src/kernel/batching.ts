/** Carries out together what is asked for at once: the first by itself, then whatever has come meanwhile. */

interface Asked<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** Carries out a batch. The result tells what came of each item, by its place in the batch. */
type CarryOut<Item, Result> = (items: readonly Item[]) => Promise<(place: number) => Result>;

/** Nobody waits where there is little to do, and where there is much it costs a few batches. */
export class Batching<Item, Result> {
  private readonly carryOut: CarryOut<Item, Result>;
  private readonly most: number;
  private waiting: Asked<Item, Result>[] = [];
  private isAtWork = false;

  /**
   * @param carryOut where it throws, all of the batch fail
   * @param most how many items one batch has at most
   */
  constructor(carryOut: CarryOut<Item, Result>, most: number) {
    this.carryOut = carryOut;
    this.most = most;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      void this.work();
    });
  }

  private async work(): Promise<void> {
    if (this.isAtWork) return;
    this.isAtWork = true;
    while (this.waiting.length > 0) await this.settle(this.waiting.splice(0, this.most));
    this.isAtWork = false;
  }

  private async settle(batch: readonly Asked<Item, Result>[]): Promise<void> {
    try {
      const resultOf = await this.carryOut(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(resultOf(place));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
