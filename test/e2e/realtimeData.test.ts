/** Reads and writes of the Realtime Database by the deployed functions. */
import assert from 'node:assert/strict';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';

describe('firebase.read and firebase.write', () => {
  const path = `shared/${newWorkspace('realtime')}`;
  let worker: Connection;
  let viewer: Connection;

  before(async () => {
    const open = async (role: 'worker' | 'viewer') =>
      connect('client 2026-07-28', endpointUrl('/network'), (await registerAgent('data', { role })).token);
    [worker, viewer] = await Promise.all([open('worker'), open('viewer')]);
  });
  after(() => Promise.all([worker?.close(), viewer?.close()]));

  const at = (rest: object = {}) => ({ database: 'realtime', path, ...rest });

  it('write data to the Realtime Database and read it page by page', async () => {
    await succeed(worker, 'firebase.write', at({ data: { a: { n: 1 }, b: 'two', c: [3] } }));
    const first = await succeed(viewer, 'firebase.read', at({ query: { limit: 2 } }));
    assert.deepEqual(first['data'], { a: { n: 1 }, b: 'two' });
    assert.ok(isRecord(first['metadata']));
    const { truncated, nextCursor: cursor } = first['metadata'];
    assert.equal(truncated, true);
    const second = await succeed(viewer, 'firebase.read', at({ query: { limit: 2, cursor } }));
    assert.deepEqual(second['data'], { c: [3] });
    const keys = await succeed(viewer, 'firebase.read', at({ shallow: true }));
    assert.deepEqual(keys['data'], { a: true, b: true, c: true });
  });

  it('return a value of the Realtime Database that is not an object in the field ".value"', async () => {
    await succeed(worker, 'firebase.write', at({ data: 'text' }));
    assert.deepEqual((await succeed(viewer, 'firebase.read', at()))['data'], { '.value': 'text' });
  });

  it('store JSON text as text in the Realtime Database, and return a note about this', async () => {
    const stored = async (data: unknown) => (await succeed(worker, 'firebase.write', at({ data })))['metadata'];
    const noted = await stored('{"a":1}');
    assert.ok(isRecord(noted));
    assert.equal(noted['type'], 'string');
    assert.match(String(noted['note']), /stored as text\. To store an object/);
    assert.deepEqual((await succeed(viewer, 'firebase.read', at()))['data'], { '.value': '{"a":1}' });
    const other = await stored({ a: '{"a":1}' });
    assert.ok(isRecord(other));
    assert.deepEqual([other['type'], other['note']], ['object', undefined]);
  });

  it('push an entry to the Realtime Database only once per idempotency key', async () => {
    const push = at({ path: `${path}-list`, operation: 'push', data: { n: 1 }, idempotency_key: path });
    const { key } = await succeed(worker, 'firebase.write', push);
    assert.equal((await succeed(worker, 'firebase.write', push))['key'], key);
    const list = await succeed(viewer, 'firebase.read', at({ path: `${path}-list` }));
    assert.deepEqual(list['data'], { [String(key)]: { n: 1 } });
  });

  it('return PERMISSION_DENIED for paths that the security rules of the database protect', async () => {
    for (const [client, tool, args] of [
      [viewer, 'firebase.write', at({ data: 1 })],
      [worker, 'firebase.write', at({ path: 'presence/somebody', data: 1 })],
      [worker, 'firebase.read', at({ path: 'limits' })],
    ] as const) {
      const { isError, structured } = await client.call(tool, args);
      assert.ok(isError && isRecord(structured['error']) && isRecord(structured['error']['data']));
      assert.equal(structured['error']['data']['reason'], 'PERMISSION_DENIED');
    }
  });
});
