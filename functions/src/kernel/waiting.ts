/** Waiting: timeouts, long polls, and repeating what was stale. */
import { StaleWriteError } from './commit.ts';
import { MusterError } from './errors.ts';
import type { Randomness } from './ports.ts';

/**
 * Gives the result of the work if it comes in time. The work itself goes on.
 * @param what its subject, for the error: `The Realtime Database`
 * @throws Error where it takes longer
 */
export function inTime<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  return within(milliseconds, work, () => new Error(`${what} did not respond.`));
}

/** Notes the time of a wait that others end, and gives its result: a call that waits takes long without being slow. */
export type Waiting = <Result>(wait: Promise<Result>) => Promise<Result>;

/** How a call may wait. */
export interface LongPoll {
  /** A signal for when the caller has gone away. Make it only to wait for something. */
  gone(): AbortSignal;
  /** To await something that others bring: an event, a free task, the end of a run. */
  readonly waiting: Waiting;
}

/** Waits without keeping an instance awake. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

/** @throws what `late` makes where the work takes longer; the work itself goes on */
export function within<T>(milliseconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export type Deferred = ReturnType<typeof deferred>;

/** A promise and what settles it. */
export function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A promise for which one may stop to wait. */
interface Cancellable {
  readonly promise: Promise<void>;
  forget(): void;
}

export function cancellableDelay(milliseconds: number): Cancellable {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, milliseconds).unref();
  return { promise, forget: () => clearTimeout(timer) };
}

export function cancellableAbort(signal: AbortSignal | undefined): Cancellable {
  const { promise, resolve } = deferred();
  if (signal?.aborted) resolve();
  signal?.addEventListener('abort', resolve);
  return { promise, forget: () => signal?.removeEventListener('abort', resolve) };
}

const CONTENTION = 'CONTENTION';

const MAX_ATTEMPTS = 25;
const LONGEST_WAIT_MILLISECONDS = 200;

/** Reads, decides and commits again while others' commits come in between. @throws MusterError CONFLICT in the end */
export async function retryStale<Result>(
  randomness: Randomness,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  for (let number = 0; number < MAX_ATTEMPTS; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      const milliseconds = randomness.integer(Math.min(LONGEST_WAIT_MILLISECONDS, 5 * 2 ** number));
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    }
  }
  throw new MusterError('CONFLICT', 'Too many concurrent changes to the same data.', {
    reason: CONTENTION,
    suggestion: 'Nothing was changed. Retry.',
  });
}

/** Whether work failed only because others changed the same data: the same work may succeed later. */
export function isContention(error: unknown): boolean {
  return error instanceof MusterError && error.details.reason === CONTENTION;
}

/** Tells whether it was committed: not where somebody else has changed or removed meanwhile what it builds on. */
export async function unlessStale(committing: Promise<void>): Promise<boolean> {
  try {
    await committing;
    return true;
  } catch (error) {
    if (error instanceof StaleWriteError) return false;
    throw error;
  }
}

/** The latest of what is told, for a reader who may be slower. */
export class LatestValue<Value> {
  private value: Value | undefined;
  private error: unknown;
  private isClosed = false;
  private wake: () => void = () => undefined;

  tell(value: Value): void {
    this.value = value;
    this.wake();
  }

  readonly fail = (error: unknown): void => {
    this.error = error;
    this.close();
  };

  close(): void {
    this.isClosed = true;
    this.wake();
  }

  /** Yields each new value until `end` is aborted, the source fails or the reader leaves; then calls `stop`. */
  async *until(end: AbortSignal, stop: () => void): AsyncGenerator<Value, void, undefined> {
    const close = () => this.close();
    end.addEventListener('abort', close, { once: true });
    if (end.aborted) close();
    try {
      yield* this.values();
    } finally {
      end.removeEventListener('abort', close);
      stop();
    }
  }

  private async *values(): AsyncGenerator<Value, void, undefined> {
    for (;;) {
      const { value } = this;
      this.value = undefined;
      if (value !== undefined) {
        yield value;
        continue;
      }
      if (this.error !== undefined) throw this.error;
      if (this.isClosed) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

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

  /** `carryOut`: where it throws, all of the batch fail; `most`: how many items one batch has at most. */
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
