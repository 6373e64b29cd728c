import assert from 'node:assert/strict';
import type { Operation } from '../../../functions/src/kernel/commit.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { canonicalJson } from '../../../functions/src/kernel/json.ts';
import { runOnce } from '../../../functions/src/mcp/call.ts';
import type { CallContext } from '../../../functions/src/mcp/callContext.ts';
import type { PreparedCall } from '../../../functions/src/mcp/tool.ts';
import { memoryPorts } from '../../support/mcp-endpoint.ts';

const by = {
  uid: 'agent:a',
  owner_uid: 'ada',
  tool: 'coordination.create_task',
  workspace: 'default',
  request_id: 'request',
};
const identity = { by, credential: 'secret' };

const contextWith = (operation: Operation): CallContext => ({ operation }) as CallContext;

/** Returns a call that counts its runs and stores its response in the same way as a service. */
function counting(ports: ReturnType<typeof memoryPorts>, key: string | undefined, input: object = { n: 1 }) {
  const runs: Operation[] = [];
  const prepared: PreparedCall = {
    input: { ...input },
    idempotencyKey: key,
    maxUsd: undefined,
    run: async ({ operation }) => {
      runs.push(operation);
      const answer = { run: runs.length };
      const settled = operation.recordResponse(answer)?.response;
      if (settled !== undefined) ports.settled.set(settled.id, settled);
      return answer;
    },
    replay: async (_context, stored) => ({ ...stored, replayed: true }),
  };
  return { prepared, runs };
}

describe('runOnce', () => {
  it('stores nothing if the call has no idempotency key', async () => {
    const ports = memoryPorts();
    const { prepared, runs } = counting(ports, undefined);
    await runOnce(ports, identity, prepared, contextWith);
    assert.deepEqual(await runOnce(ports, identity, prepared, contextWith), { run: 2 });
    assert.equal(ports.settled.size, 0);
    assert.equal(runs[0]?.derivedSecret('a'), undefined);
  });

  it('returns the stored response if a call is repeated', async () => {
    const ports = memoryPorts();
    const { prepared, runs } = counting(ports, 'key');
    assert.deepEqual(await runOnce(ports, identity, prepared, contextWith), { run: 1 });
    assert.deepEqual(await runOnce(ports, identity, prepared, contextWith), { run: 1, replayed: true });
    assert.equal(runs.length, 1);
  });

  it('treats calls as equal whose arguments differ only in order', async () => {
    const ports = memoryPorts();
    await runOnce(ports, identity, counting(ports, 'key', { a: 1, b: { c: 2, d: 3 } }).prepared, contextWith);
    const again = counting(ports, 'key', { b: { d: 3, c: 2 }, a: 1 });
    assert.equal((await runOnce(ports, identity, again.prepared, contextWith))['replayed'], true);
  });

  it('rejects a key that was used before with other arguments', async () => {
    const ports = memoryPorts();
    await runOnce(ports, identity, counting(ports, 'key').prepared, contextWith);
    const other = runOnce(ports, identity, counting(ports, 'key', { n: 2 }).prepared, contextWith);
    await assert.rejects(other, (error) => error instanceof MusterError && error.code === 'CONFLICT');
  });

  it('treats the keys of different callers, tools and workspaces as different', async () => {
    const ports = memoryPorts();
    for (const other of [{}, { uid: 'agent:b' }, { tool: 'coordination.fail_task' }, { workspace: 'w' }]) {
      const { prepared } = counting(ports, 'key');
      assert.deepEqual(await runOnce(ports, { ...identity, by: { ...by, ...other } }, prepared, contextWith), {
        run: 1,
      });
    }
    assert.equal(ports.settled.size, 4);
  });

  it('runs the call again if the first call was more than 24 hours ago', async () => {
    const ports = memoryPorts();
    let now = new Date('2026-01-01T00:00:00Z');
    const timed = { ...ports, clock: { now: () => now } };
    const { prepared, runs } = counting(ports, 'key');
    await runOnce(timed, identity, prepared, contextWith);
    now = new Date('2026-01-01T23:59:59Z');
    await runOnce(timed, identity, prepared, contextWith);
    assert.equal(runs.length, 1);
    now = new Date('2026-01-02T00:00:00Z');
    await runOnce(timed, identity, prepared, contextWith);
    assert.equal(runs.length, 2);
  });

  it('returns the stored response if a concurrent call was stored first', async () => {
    const ports = memoryPorts();
    const { prepared } = counting(ports, 'key');
    const losing: PreparedCall = {
      ...prepared,
      run: async (context) => {
        await prepared.run(context);
        throw new MusterError('CONFLICT', 'Settled.', { reason: 'ALREADY_SETTLED' });
      },
    };
    assert.deepEqual(await runOnce(ports, identity, losing, contextWith), { run: 1, replayed: true });
  });

  it('derives the same secret again only for an equal idempotency key and an equal credential', async () => {
    const ports = memoryPorts();
    const secret = async (key: string, credential: string) => {
      const { prepared, runs } = counting(ports, key);
      ports.settled.clear();
      await runOnce(ports, { ...identity, credential }, prepared, contextWith);
      return runs[0]?.derivedSecret('label');
    };
    const first = await secret('key', 'secret');
    assert.ok(first !== undefined && first.length >= 40);
    assert.equal(await secret('key', 'secret'), first);
    assert.notEqual(await secret('other', 'secret'), first);
    assert.notEqual(await secret('key', 'other'), first);
  });

  it('serializes equal values to the same JSON text', () =>
    assert.equal(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true }), '{"a":true,"b":[1,{"c":"x","d":null}]}'));
});
