/**
 * What the work gives, if it gives it in time. The work itself goes on.
 * @param what its subject, for the error: `The Realtime Database`
 * @throws Error where it takes longer
 */
export function inTime<T>(work: Promise<T>, milliseconds: number, what: string): Promise<T> {
  return within(milliseconds, work, () => new Error(`${what} did not answer.`));
}

/** A call that waits for somebody else takes long without being slow: such time is kept apart from its own. */

/** Notes the time of a wait that is for others to end, and gives what it brings. */
export type Waiting = <Result>(wait: Promise<Result>) => Promise<Result>;

/** How a call may wait. */
export interface LongPoll {
  /** A signal for when the caller has gone away. Make it only to wait for something. */
  gone(): AbortSignal;
  /** To await what is for others to bring: an event, a free task, the end of a run. */
  readonly waiting: Waiting;
}

/** Waiting that keeps no instance awake. */

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

/** A promise and what settles it. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
}

export function deferred(): Deferred {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Something that will come to pass, and that one may stop waiting for. */
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
