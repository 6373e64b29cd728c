import { HttpsError } from 'firebase-functions/https';
import { onTaskDispatched } from 'firebase-functions/tasks';
import { app } from '../app.ts';
import { modelSecrets } from '../config/models.ts';
import { region } from '../config.ts';

/** Executes the steps of a run, until it ends, waits, or has had its turn. */
export const executeRun = onTaskDispatched<unknown>(
  {
    region,
    timeoutSeconds: 1800,
    memory: '512MiB',
    secrets: modelSecrets,
    concurrency: 20,
    retryConfig: { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 30 },
    rateLimits: { maxConcurrentDispatches: 100 },
  },
  async ({ data }) => {
    // Cloud Tasks delivers again what was not done.
    if ((await app().services.runExecution.deliver(data)) === 'busy')
      throw new HttpsError('unavailable', 'Another instance executes this run.');
  },
);
