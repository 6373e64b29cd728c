/** Timeouts, time limits of requests, long polls, and retries after conflicts. */
import { StaleWriteError } from './commit.ts';
import { MusterError } from './errors.ts';
import type { Randomness } from './ports.ts';

/**
 * Returns the result of the work. On timeout, throws an error while the work continues.
 * @param what subject of the error's message: `The Realtime Database`
 * @throws Error if the work takes longer than `milliseconds`
 */
export function withTimeout<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  return withTimeoutError(milliseconds, work, () => new Error(`${what} did not respond.`));
}

/** Returns the result of a wait. Excludes the wait from the measured duration of the call. */
export type TrackWait = <Result>(wait: Promise<Result>) => Promise<Result>;

export interface LongPoll {
  /** Returns a signal that aborts when the client disconnects. Get the signal only in calls that wait. */
  disconnectSignal(): AbortSignal;
  /** Waits for an event outside of the call: a change, a claimable task, or the end of a run. */
  readonly trackWait: TrackWait;
}

/** Resolves after the given time. A pending pause does not keep the process running. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

/** @throws the error of `late` if the work takes longer; the work itself continues */
export function withTimeoutError<T>(milliseconds: number, work: Promise<T>, timeoutError: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeoutError()), milliseconds).unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns a promise and the function that resolves the promise. */
export function deferred() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, resolve: () => resolve() };
}

/** Lets the calls of this process that enter the same lane work one after another. */
export class Lanes {
  private readonly last = new Map<string, Promise<void>>();

  /** Resolves when all earlier calls have left the lane. Returns the function by which the call leaves the lane. */
  async enter(lane: string): Promise<() => void> {
    const { promise, resolve } = deferred();
    const before = this.last.get(lane);
    this.last.set(lane, promise);
    await before;
    return () => {
      if (this.last.get(lane) === promise) this.last.delete(lane);
      resolve();
    };
  }
}

interface CancellableWait {
  readonly promise: Promise<void>;
  dispose(): void;
}

export function cancellableDelay(milliseconds: number): CancellableWait {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, milliseconds).unref();
  return { promise, dispose: () => clearTimeout(timer) };
}

export function cancellableAbort(signal: AbortSignal | undefined): CancellableWait {
  const { promise, resolve } = deferred();
  if (signal?.aborted) resolve();
  signal?.addEventListener('abort', resolve);
  return { promise, dispose: () => signal?.removeEventListener('abort', resolve) };
}

/** Resolves when a watch calls `done` or `until` aborts. @param watch starts watches; returns functions that end them */
export async function watchUntil(
  until: AbortSignal,
  watch: (done: () => void) => readonly (() => void)[],
): Promise<void> {
  if (until.aborted) return;
  const { promise, resolve } = deferred();
  const stops = watch(resolve);
  until.addEventListener('abort', resolve);
  await promise;
  until.removeEventListener('abort', resolve);
  for (const stop of stops) stop();
}

const CONTENTION = 'CONTENTION';
const MAX_CONFLICT_RETRIES = 25;
const MAX_BACKOFF_MS = 200;

/** Retries an attempt that conflicts with other commits. @throws MusterError CONFLICT after many attempts */
export async function retryOnConflict<Result>(
  randomness: Randomness,
  attempt: (number: number) => Promise<Result>,
): Promise<Result> {
  for (let number = 0; number < MAX_CONFLICT_RETRIES; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      const milliseconds = randomness.integer(Math.min(MAX_BACKOFF_MS, 5 * 2 ** number));
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    }
  }
  throw new MusterError('CONFLICT', 'Too many concurrent changes to the same data.', {
    reason: CONTENTION,
    suggestion: 'Nothing was changed. Retry.',
  });
}

/** Returns whether work failed only because of concurrent changes, so that a retry may succeed. */
export function isContention(error: unknown): boolean {
  return error instanceof MusterError && error.details.reason === CONTENTION;
}

/** Returns true if the commit succeeded; false if a document was changed or deleted after it was read. */
export async function ignoreStale(committing: Promise<void>): Promise<boolean> {
  try {
    await committing;
    return true;
  } catch (error) {
    if (error instanceof StaleWriteError) return false;
    throw error;
  }
}

/** Latest value of a source. A slow reader skips the values in between. */
export class LatestValue<Value> {
  private value: Value | undefined;
  private error: unknown;
  private isClosed = false;
  private wake: () => void = () => undefined;

  set(value: Value): void {
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

  /** Yields each new value until `end` aborts, the source fails or the reader stops. Then calls `stop`. */
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

interface PendingItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** Executes a batch, and returns a function that maps an item's index to the item's result. */
type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<(place: number) => Result>;

/** Combines concurrent items into batches. If no batch is running, a new item runs immediately. */
export class Batching<Item, Result> {
  private readonly runBatch: RunBatch<Item, Result>;
  private readonly maxItems: number;
  private waiting: PendingItem<Item, Result>[] = [];
  private isRunning = false;

  /** @param carryOut runs one batch; if it throws, every item of the batch fails */
  constructor(carryOut: RunBatch<Item, Result>, max: number) {
    this.runBatch = carryOut;
    this.maxItems = max;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      void this.work();
    });
  }

  private async work(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.waiting.length > 0) await this.settle(this.waiting.splice(0, this.maxItems));
    this.isRunning = false;
  }

  private async settle(batch: readonly PendingItem<Item, Result>[]): Promise<void> {
    try {
      const resultOf = await this.runBatch(batch.map(({ item }) => item));
      for (const [place, { resolve }] of batch.entries()) resolve(resultOf(place));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Time limit of a request, shorter than the 60 seconds after which clients give up. */
const REQUEST_TIMEOUT_MS = 50_000;

/** Starts the time limit of a request, which its authentication and all its calls share. */
export function requestTimeLeft(milliseconds = REQUEST_TIMEOUT_MS): () => number {
  const end = performance.now() + milliseconds;
  return () => Math.max(0, end - performance.now());
}

/** @throws MusterError TIMEOUT if no time is left to start the call */
export function requireTime(timeLeft: () => number): void {
  if (timeLeft() > 0) return;
  const message = `The call was not run, because the request reached its time limit of ${REQUEST_TIMEOUT_MS / 1000} seconds first.`;
  throw new MusterError('TIMEOUT', message, { reason: 'NOT_RUN', suggestion: 'Retry.' });
}
