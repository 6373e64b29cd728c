/** Runs are dispatched by the Admin SDK to a local imitation of Cloud Tasks. */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { systemRandomness } from '../../../../functions/src/kernel/platform.ts';
import { cloudTasksRunQueue } from '../../../../functions/src/vendors/cloudtasks/runQueue.ts';
import { setVariable } from '../../../support/environment.ts';
import { bodyOf, close, listen, portOf } from '../../../support/listening.ts';

const HOST = 'CLOUD_TASKS_EMULATOR_HOST';
const METADATA = 'METADATA_SERVER_DETECTION';

/** How the first response is lost: the connection closes, or a status makes the client retry. */
type Loss = 'cut' | 503;

describe('run that is dispatched to Cloud Tasks', () => {
  /** Tasks in the simulated queue, by their names. */
  let tasks: Map<string, unknown>;
  let losses: Loss[];
  let requests: number;
  let server: Server;
  const given = { host: process.env[HOST], project: process.env['GCLOUD_PROJECT'], metadata: process.env[METADATA] };

  beforeEach(() => {
    tasks = new Map();
    losses = [];
    requests = 0;
  });

  // All tests use one server, because the Admin SDK keeps the first address of Cloud Tasks.
  before(async () => {
    server = createServer(async (request, response) => {
      accept(JSON.parse(await bodyOf(request)).task, response);
    });
    await listen(server);
    process.env[HOST] = `127.0.0.1:${portOf(server)}`;
    process.env['GCLOUD_PROJECT'] ??= 'demo-muster';
    // Prevents the Admin SDK from looking up the service account.
    process.env[METADATA] = 'none';
  });

  after(async () => {
    await close(server);
    setVariable(HOST, given.host);
    setVariable('GCLOUD_PROJECT', given.project);
    setVariable(METADATA, given.metadata);
  });

  /** Gives an unnamed task a name, and rejects a name that already exists, as Cloud Tasks does. */
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

  for (const loss of ['cut', 503] as const)
    it(`is queued only once if the response is lost (${loss})`, async () => {
      losses = [loss];
      await queue().dispatch('run-1');
      assert.deepEqual([requests, tasks.size], [2, 1]);
    });

  it('can be dispatched again, which adds a second task', async () => {
    const runs = queue();
    await runs.dispatch('run-1');
    await runs.dispatch('run-1');
    assert.equal(tasks.size, 2);
  });
});
