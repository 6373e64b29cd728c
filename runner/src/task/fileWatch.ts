/** Reports which files an attempt changes, while it runs. */
import { setTimeout as delay } from 'node:timers/promises';

/** Time between two checks, in milliseconds. */
export const FILES_INTERVAL_MS = 30_000;

export interface FileWatchOptions {
  readonly list: () => Promise<readonly string[]>;
  readonly send: (files: readonly string[]) => void;
  readonly everyMs: number;
}

export interface FileWatch {
  /** Resolves when no check is running. */
  stop(): Promise<void>;
}

/** Sends the list at once, if it is not empty, and then each time that it has changed. */
export function watchFiles({ list, send, everyMs }: FileWatchOptions): FileWatch {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async (): Promise<void> => {
    for (let known = ''; !signal.aborted; ) {
      // If git fails, the next check can succeed.
      const files = await list().catch(() => undefined);
      const found = files?.join('\0') ?? known;
      if (files !== undefined && found !== known && !signal.aborted) send(files);
      known = found;
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
