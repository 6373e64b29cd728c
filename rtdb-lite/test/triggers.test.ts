/** Tests the events that are sent to the functions emulator. */
import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { anonymous } from '../src/caller.ts';
import { type Server, startServer } from '../src/server.ts';
import { eventually } from './support/eventually.ts';

interface Call {
  readonly path: string | undefined;
  readonly event: unknown;
}

describe('triggers', () => {
  const calls: Call[] = [];
  let functions: HttpServer;
  let server: Server;

  before(async () => {
    functions = createServer(async (request, response) => {
      calls.push({ path: request.url, event: await json(request) });
      response.end();
    });
    await new Promise<void>((resolve) => functions.listen(0, '127.0.0.1', resolve));
    const address = functions.address();
    assert.ok(typeof address === 'object' && address !== null);
    server = await startServer({ functionsUrl: `http://127.0.0.1:${address.port}` });
    const name = 'projects/demo/locations/us-central1/triggers/us-central1-onTask-0';
    const event = 'google.firebase.database.ref.v1.created';
    server.store.triggers.register({ name, path: 'tasks/{id}', event, namespacePattern: '*' }, 'any');
  });
  beforeEach(() => calls.splice(0));
  after(async () => {
    functions.close();
    await server.close();
  });

  function write(path: string, value: unknown, triggers = true): void {
    server.store.namespace('demo').write([{ path: path.split('/'), value }], anonymous, { triggers });
  }

  async function called(times: number): Promise<void> {
    await eventually(() => assert.equal(calls.length, times));
  }

  it('are called for matching events and paths', async () => {
    write('tasks/t1', { title: 'x' });
    await called(1);
    const [call] = calls;
    assert.equal(call?.path, '/functions/projects/demo/triggers/us-central1-onTask-0');
    assert.partialDeepStrictEqual(call.event, {
      type: 'google.firebase.database.ref.v1.created',
      ref: 'tasks/t1',
      instance: 'demo',
      authtype: 'unauthenticated',
      data: { data: null, delta: { title: 'x' } },
    });
  });

  it('are not called for other events, for other paths or while they are switched off', async () => {
    write('tasks/t1', { title: 'y' });
    write('elsewhere/t1', { title: 'y' });
    write('tasks/t2', { title: 'y' }, false);
    write('tasks/t4', { title: 'the last' });
    await called(1);
    assert.partialDeepStrictEqual(calls, [{ event: { ref: 'tasks/t4' } }]);
  });

  it('are replaced when the function is registered with its next generation', async () => {
    const name = 'projects/demo/locations/us-central1/triggers/us-central1-onTask-1';
    const event = 'google.firebase.database.ref.v1.created';
    server.store.triggers.register({ name, path: 'tasks/{id}', event, namespacePattern: '*' }, 'any');
    write('tasks/t3', { title: 'z' });
    await called(1);
    const paths = calls.map((call) => call.path);
    assert.deepEqual(paths, ['/functions/projects/demo/triggers/us-central1-onTask-1']);
  });
});
