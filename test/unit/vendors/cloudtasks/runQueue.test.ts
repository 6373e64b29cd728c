/** Dispatching runs over the Admin SDK's client, to a Cloud Tasks on this machine. */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { systemRandomness } from '../../../../functions/src/kernel/platform.ts';
import { cloudTasksRunQueue } from '../../../../functions/src/vendors/cloudtasks/runQueue.ts';
import { setVariable } from '../../../support/environment.ts';
import { close, listen, portOf } from '../../../support/listening.ts';

const HOST = 'CLOUD_TASKS_EMULATOR_HOST';
const METADATA = 'METADATA_SERVER_DETECTION';

/** The connection ends, or there comes an answer on which the client sends again. */
type Loss = 'cut' | 503;

describe('a run that is dispatched', () => {
  /** What the queue holds, by name. */
  let tasks: Map<string, unknown>;
  let losses: Loss[];
  let requests: number;
  let server: Server;
  const given = {
    host: process.env[HOST],
    project: process.env['GCLOUD_PROJECT'],
    metadata: process.env[METADATA],
  };

  beforeEach(() => {
    tasks = new Map();
    losses = [];
    requests = 0;
  });

  // The Admin SDK's client remembers where it was told that Cloud Tasks is.
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      accept(JSON.parse(Buffer.concat(chunks).toString('utf8')).task, response);
    });
    await listen(server);
    process.env[HOST] = `127.0.0.1:${portOf(server)}`;
    process.env['GCLOUD_PROJECT'] ??= 'demo-muster';
    // Whose account this is nobody looks up.
    process.env[METADATA] = 'none';
  });

  after(async () => {
    await close(server);
    setVariable(HOST, given.host);
    setVariable('GCLOUD_PROJECT', given.project);
    setVariable(METADATA, given.metadata);
  });

  /** As Cloud Tasks does it: a task without a name gets one, and none has the name of another. */
  function accept(task: { readonly name?: string }, response: ServerResponse): void {
    requests += 1;
    const name = task.name ?? `unnamed-${requests}`;
    const isThere = tasks.has(name);
    tasks.set(name, task);
    const loss = losses.shift();
    if (loss === 'cut') response.destroy();
    else response.writeHead(loss ?? (isThere ? 409 : 200), { 'content-type': 'application/json' }).end('{}');
  }

  const queue = () => cloudTasksRunQueue('europe-west1', systemRandomness);

  for (const loss of ['cut', 503] as const) {
    it(`is in the queue once where the answer is lost (${loss})`, async () => {
      losses = [loss];
      await queue().dispatch('run-1');
      assert.deepEqual([requests, tasks.size], [2, 1]);
    });
  }

  it('can be dispatched again at any time', async () => {
    const runs = queue();
    await runs.dispatch('run-1');
    await runs.dispatch('run-1');
    assert.equal(tasks.size, 2);
  });
});
