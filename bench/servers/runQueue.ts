/**
 * Executes runs as in a deployment: receives the tasks that the endpoint sends to Cloud Tasks, and delivers them to
 * `executeRun` in a separate process. The Cloud Tasks emulator would deliver them to the functions emulator. Source:
 * firebase-admin, FunctionsApiClient.enqueue
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { LocalModels } from '../../test/support/models/server.ts';
import { musterFunction, serveFunction } from './functionServer.ts';

type Env = Readonly<Record<string, string>>;

export interface RunQueue {
  readonly models: LocalModels;
  /** Environment variables with which the endpoint reaches the queue and the models. */
  readonly env: Env;
  stop(): Promise<unknown>;
}

const enqueued = z.object({ task: z.object({ httpRequest: z.object({ body: z.string() }) }) });

/** Returns the parameters of a deployment that uses these models. */
export function connectedTo(models: LocalModels) {
  return {
    ANTHROPIC_API_KEY: 'local',
    ANTHROPIC_BASE_URL: models.url,
    CLAUDE_MODEL: 'claude-local',
    CLAUDE_INPUT_PRICE: '1',
    CLAUDE_OUTPUT_PRICE: '5',
    GEMINI_API_KEY: 'local',
    GEMINI_BASE_URL: models.url,
    GEMINI_MODEL: 'gemini-local',
    GEMINI_INPUT_PRICE: '1',
    GEMINI_OUTPUT_PRICE: '5',
    RUN_BUDGET_TOKENS: '1000000',
    RUN_BUDGET_CENTS: '1000',
    REGION: 'us-central1',
  };
}

/** @param project environment variables with which a function uses the project */
export async function startRunQueue(project: Env): Promise<RunQueue> {
  const models = new LocalModels();
  await models.start();
  const connected = connectedTo(models);
  const executor = await serveFunction({
    ...musterFunction,
    target: 'executeRun',
    env: { ...project, ...connected, FUNCTIONS_EMULATOR: 'true' },
  });
  const queue = createServer(async (request, response) => {
    const { task } = enqueued.parse(await json(request));
    response.setHeader('content-type', 'application/json').end('{}');
    const delivery = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = Buffer.from(task.httpRequest.body, 'base64');
    // Ignore a delivery that fails because the process of `executeRun` has ended.
    await fetch(executor.url, { ...delivery, body }).catch(() => undefined);
  });
  await new Promise<void>((resolve) => queue.listen(0, '127.0.0.1', resolve));
  const address = queue.address();
  if (address === null || typeof address === 'string') throw new Error('The queue is not listening.');
  return {
    models,
    env: { ...connected, CLOUD_TASKS_EMULATOR_HOST: `127.0.0.1:${address.port}` },
    async stop() {
      queue.close();
      await Promise.all([executor.end(), models.stop()]);
    },
  };
}
