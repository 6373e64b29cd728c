let isAwaited = false;

/**
 * Has something done before the platform ends the instance; only the first call counts. The framework ends
 * the process as soon as it is told to, and Cloud Run gives it ten seconds. To be called when a request has
 * come: the framework has put up its own handlers by then. Source: @google-cloud/functions-framework,
 * src/invoker.ts; Cloud Run, "Container runtime contract", "Instance shutdown".
 */
export function beforeEnding(task: () => Promise<void>): void {
  if (isAwaited) return;
  isAwaited = true;
  const others = process.listeners('SIGTERM');
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', (signal) => {
    void task().finally(() => {
      for (const other of others) process.on('SIGTERM', other);
      process.kill(process.pid, signal);
    });
  });
}
