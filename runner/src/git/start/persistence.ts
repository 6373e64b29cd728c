/** Retries operations that failed for a transient reason. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Persistence {
  readonly attempts: number;
  /** Delay before the second attempt, in milliseconds. Doubles before each further attempt. */
  readonly firstWaitMs: number;
  readonly lastWaitMs: number;
  /** Returns whether a further attempt can succeed after this error. */
  readonly canPass: (error: unknown) => boolean;
  readonly signal: AbortSignal;
}

/** Returns the result of the first attempt that succeeds. Rejects with the error of the last attempt if all fail. */
export async function persistently<T>(action: () => Promise<T>, persistence: Persistence): Promise<T> {
  const { attempts, firstWaitMs, lastWaitMs, canPass, signal } = persistence;
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (!canPass(error) || attempt >= attempts || signal.aborted) throw error;
      const wait = Math.min(firstWaitMs * 2 ** (attempt - 1), lastWaitMs);
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
