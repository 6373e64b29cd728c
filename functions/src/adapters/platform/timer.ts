import type { Timer } from '../../domain/orchestration/ports.ts';

export const systemTimer: Timer = {
  wait(milliseconds, signal) {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timeout = setTimeout(done, milliseconds);
      signal.addEventListener('abort', done);
    });
  },
};
