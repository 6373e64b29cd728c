/** If a write to the Realtime Database loses its response, it is applied once, and the caller gets its outcome. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { WriteRequest } from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { DatabaseCommitMarkers } from '../../../functions/src/toolsets/firebase/store/watcherLeases.ts';
import { type LossyProxy, openLossyProxy } from '../../support/lossyProxy.ts';
import { refusal } from '../../support/refusal.ts';
import { read, stored, worker, write as writeThere } from './realtime.ts';
import { withDatabaseAt } from './realtimeReach.ts';

const MORE = { '.sv': { increment: 1 } };

describe('a write to the Realtime Database whose response is lost', () => {
  let path: string;
  let proxy: LossyProxy;

  beforeEach(async () => {
    path = `shared/${randomUUID()}`;
    proxy = await openLossyProxy(process.env['FIREBASE_DATABASE_EMULATOR_HOST'] ?? '');
  });

  afterEach(() => proxy.close());

  /** Writes through the proxy, which loses responses. */
  const write = (data: JsonValue, request: Partial<WriteRequest> = {}, at = path) =>
    withDatabaseAt(proxy.host, () => writeThere(at, data, request));

  const keyed = () => ({ repetition: { id: randomUUID().replaceAll('-', '').slice(0, 20), argumentsHash: 'hash' } });

  for (const [ends, isKeyed] of [
    ['cut', true],
    [503, false],
  ] as const)
    describe(`when the response is ${ends}, ${isKeyed ? 'with' : 'without'} an idempotency key`, () => {
      const key = () => (isKeyed ? keyed() : {});
      const methods = { set: 'PUT', update: 'PUT', delete: 'DELETE' };

      it('replaces the value, and returns the version of the new value', async () => {
        await writeThere(path, { n: 1 });
        proxy.lose({ ends });
        const { version } = await write({ n: 2, at: { '.sv': 'timestamp' } }, key());
        assert.equal((await read(path)).version, version);
        assert.equal(Object(await stored(path)).n, 2);
      });

      it('deletes the value', async () => {
        await writeThere(path, { n: 1 });
        proxy.lose({ ends });
        await write(null, { operation: 'delete', ...key() });
        assert.equal(await stored(path), null);
      });

      it('updates the value', async () => {
        await writeThere(path, { a: 1, b: 1 });
        proxy.lose({ ends, method: 'PATCH' });
        await write({ a: 2 }, { operation: 'update', ...key() });
        assert.deepEqual(await stored(path), { a: 2, b: 1 });
      });

      it('pushes once, even if the child was deleted before the retry', async () => {
        proxy.lose({ ends, times: 2 });
        const { key: pushed = '' } = await write({ n: 1 }, { operation: 'push', ...key() });
        assert.deepEqual(await stored(path), { [pushed]: { n: 1 } });
        proxy.lose({ ends, beforeLoss: () => writeThere(path, null) });
        await write({ n: 2 }, { operation: 'push', ...key() });
        assert.equal(await stored(path), null);
      });

      it('increments the value once', async () => {
        await writeThere(path, { count: 5 });
        proxy.lose({ ends, method: 'PATCH', times: 2 });
        await write({ count: MORE }, { operation: 'update', ...key() });
        proxy.lose({ ends, method: 'PATCH' });
        await write(MORE, key(), `${path}/count`);
        assert.deepEqual(await stored(path), { count: 7 });
      });

      for (const [operation, data, after] of [
        ['set', { n: 2, count: MORE }, { n: 2, count: 6 }],
        ['update', { count: MORE }, { n: 1, count: 6 }],
        ['delete', null, null],
      ] as const) {
        it(`succeeds although its own lost ${operation} has changed the expected version`, async () => {
          const { version: expectedVersion = '' } = await writeThere(path, { n: 1, count: 5 });
          proxy.lose({ ends, method: methods[operation] });
          await write(data, { operation, transaction: true, expectedVersion, ...key() });
          assert.deepEqual(await stored(path), after);
        });

        it(`succeeds after its own lost ${operation} in a transaction without an expected version`, async () => {
          await writeThere(path, { n: 1, count: 5 });
          proxy.lose({ ends, method: methods[operation] });
          await write(data, { operation, transaction: true, ...key() });
          assert.deepEqual(await stored(path), after);
        });
      }

      it('returns the version that its transaction stored', async () => {
        await writeThere(path, { n: 1 });
        proxy.lose({ ends, method: 'PUT' });
        const { version } = await write({ n: 2 }, { transaction: true, ...key() });
        assert.equal(version, (await read(path)).version);
      });
    });

  it('is recognized as applied although the database normalizes the stored value', async () => {
    proxy.lose({ method: 'PUT' });
    const data = { list: ['a', null, 'b'], none: {}, at: { '.sv': 'timestamp' }, deep: { x: [], y: 1 } };
    await write(data, { transaction: true, expectedVersion: null });
    assert.deepEqual(Object(await stored(path)).deep, { y: 1 });
  });

  it('is sent again if the request never arrived', async () => {
    proxy.lose({ ends: 'unsent' });
    await write({ n: 1 });
    proxy.lose({ ends: 'unsent' });
    await write({ n: MORE }, { operation: 'update' });
    assert.deepEqual(await stored(path), { n: 2 });
  });

  it('returns an unknown outcome if another write has replaced the value in the meantime', async () => {
    const { version = '' } = await writeThere(path, { n: 1 });
    proxy.lose({ method: 'PUT', beforeLoss: () => writeThere(path, { n: 3 }) });
    const error = await refusal(() => write({ n: 2 }, { transaction: true, expectedVersion: version }));
    assert.equal(error.details.reason, 'CONFLICT');
    assert.doesNotMatch(`${error.message} ${error.details.suggestion}`, /nothing was/i);
    assert.match(error.message, /Your write may or may not have been applied/);
    assert.deepEqual(await stored(path), { n: 3 });
  });

  it('causes an error that says nothing was written if the expected version is outdated', async () => {
    const { version = '' } = await writeThere(path, { n: 1 });
    await writeThere(path, { n: 3 });
    const error = await refusal(() => write({ n: 2 }, { transaction: true, expectedVersion: version }));
    assert.match(String(error.details.suggestion), /Nothing was written/);
  });

  it('causes an error that says it may have been applied if no response arrives', async () => {
    proxy.lose({ times: 100 });
    for (const data of [{ n: 1 }, { n: MORE }]) {
      const error = await refusal(() => write(data));
      assert.equal(error.details.reason, 'CONNECTION_ERROR');
      assert.match(String(error.details.suggestion), /may or may not have been applied/);
    }
  });

  it('reports an unreachable database if nothing was sent', async () => {
    proxy.close();
    const error = await refusal(() => write({ n: 1 }));
    assert.equal(error.message, 'The database is unreachable.');
  });

  it('succeeds even if another write replaces the incremented value before the retry', async () => {
    await writeThere(path, { n: 1 });
    proxy.lose({ method: 'PATCH', beforeLoss: () => writeThere(path, { n: 7 }) });
    await write({ n: MORE }, { operation: 'update' });
    assert.deepEqual(await stored(path), { n: 7 });
  });

  describe('a repeated call with the same key', () => {
    /** Writes, and does not store the response of the call, as if the instance crashed after the write. */
    async function died(data: JsonValue, request: Partial<WriteRequest>): Promise<void> {
      await writeThere(path, data, request);
    }

    it('increments, replaces and pushes once, and does not overwrite later writes', async () => {
      const key = keyed();
      await writeThere(path, { count: 5 });
      await died({ count: MORE }, { operation: 'update', ...key });
      await writeThere(path, { more: true }, { operation: 'update' });
      await write({ count: MORE }, { operation: 'update', ...key });
      assert.deepEqual(await stored(path), { count: 6, more: true });
      const other = keyed();
      await died({ n: 1 }, other);
      await writeThere(path, { n: 2 });
      const { version } = await write({ n: 1 }, other);
      assert.equal(version, undefined);
      assert.deepEqual(await stored(path), { n: 2 });
      const third = keyed();
      await died({ n: 1 }, { operation: 'push', ...third });
      await writeThere(path, null);
      const { key: pushed } = await write({ n: 1 }, { operation: 'push', ...third });
      assert.equal(pushed, third.repetition.id);
      assert.equal(await stored(path), null);
    });

    it('reports a conflict or an unknown outcome if the value has changed since the first call', async () => {
      const key = keyed();
      await writeThere(path, { count: 5 });
      await died({ count: MORE }, { operation: 'update', transaction: true, ...key });
      const again = () => write({ count: MORE }, { operation: 'update', transaction: true, ...key });
      assert.equal((await refusal(again)).details.reason, 'CONFLICT');
      assert.deepEqual(await stored(path), { count: 6 });
      const other = keyed();
      await died({ n: 1 }, { transaction: true, ...other });
      await write({ n: 1 }, { transaction: true, ...other });
      await writeThere(path, { n: 2 });
      const error = await refusal(() => write({ n: 1 }, { transaction: true, ...other }));
      assert.match(error.message, /Your write may or may not have been applied/);
      assert.deepEqual(await stored(path), { n: 2 });
    });

    it('is refused if the key belongs to a call with other arguments', async () => {
      const key = keyed();
      await died({ n: 1 }, key);
      const repetition = { ...key.repetition, argumentsHash: 'another' };
      for (const transaction of [true, false]) {
        const error = await refusal(() => write({ n: 2 }, { repetition, transaction }));
        assert.equal(error.details.reason, 'KEY_REUSED');
      }
      assert.deepEqual(await stored(path), { n: 1 });
    });
  });

  it('stores a commit marker that is kept as long as the call can be repeated', async () => {
    const expire = (hours: number) =>
      new DatabaseCommitMarkers({
        database: realtimeDatabase,
        clock: { now: () => new Date(Date.now() + hours * 3_600_000) },
      }).expire();
    await expire(100);
    await write({ n: MORE });
    await write({ n: 1 }, keyed());
    assert.equal(await expire(0.5), 0);
    assert.equal(await expire(1.5), 1);
    assert.equal(await expire(24.5), 1);
  });

  it('is handled unlike a read, which is sent again and succeeds if its response is lost', async () => {
    await writeThere(path, { n: 1 });
    proxy.lose({ method: 'GET' });
    const { data } = await withDatabaseAt(proxy.host, () => read(path, undefined, worker));
    assert.deepEqual(data, { n: 1 });
  });
});
