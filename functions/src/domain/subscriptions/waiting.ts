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
export interface Prospect {
  readonly promise: Promise<void>;
  forget(): void;
}

export function passingOf(milliseconds: number): Prospect {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, milliseconds).unref();
  return { promise, forget: () => clearTimeout(timer) };
}

export function abortOf(signal: AbortSignal | undefined): Prospect {
  const { promise, resolve } = deferred();
  if (signal?.aborted) resolve();
  signal?.addEventListener('abort', resolve);
  return { promise, forget: () => signal?.removeEventListener('abort', resolve) };
}
