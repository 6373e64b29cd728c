import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject, JsonValue } from '../../../../functions/src/kernel/json.ts';
import type { WriteOperation } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { agentCaller } from '../callers.ts';
import { DataClient, refusedFor, unique } from '../dataClient.ts';

const data = new DataClient('firestore');
const worker = agentCaller('worker');
const place = (): string => `shared/${unique()}`;
const stored = async (path: string): Promise<JsonValue> => (await data.read(worker, path)).data;

async function put(fields: JsonObject): Promise<string> {
  const path = place();
  await data.write(worker, path, fields);
  return path;
}

describe('firebase.write to Firestore', () => {
  it('replaces a document with set, and returns its new version', async () => {
    const path = await put({ a: 1, b: 2 });
    const { version, timestamp, key } = await data.write(worker, path, { a: 3 });
    const read = await data.read(worker, path);
    assert.deepEqual(read.data, { a: 3 });
    assert.equal(version, read.version);
    assert.ok(timestamp instanceof Date && timestamp <= read.timestamp);
    assert.equal(key, undefined);
  });

  it('keeps fields that the call does not name if merge is set', async () => {
    const path = await put({ a: 1, map: { x: 1, y: 2 }, missing: 1 });
    await data.write(worker, path, { map: { y: 3 }, missing: { __delete__: true }, 'b.c': 4 }, { merge: true });
    assert.deepEqual(await stored(path), { a: 1, map: { x: 1, y: 3 }, 'b.c': 4 });
    const fresh = place();
    await data.write(worker, fresh, { a: 1 }, { merge: true });
    assert.deepEqual(await stored(fresh), { a: 1 });
  });

  it('changes only the given fields of an existing document with update', async () => {
    const path = await put({ a: 1, map: { x: 1, y: 2 }, list: [1] });
    const changes = { 'map.y': 3, a: { __delete__: true }, 'odd*[name]': true, list: { __arrayUnion__: [1, 2] } };
    await data.write(worker, path, changes, { operation: 'update' });
    assert.deepEqual(await stored(path), { map: { x: 1, y: 3 }, 'odd*[name]': true, list: [1, 2] });
    await refusedFor('NOT_FOUND', data.write(worker, place(), { a: 1 }, { operation: 'update' }));
  });

  it('refuses updates without fields or with overlapping fields', async () => {
    const path = await put({ a: 1 });
    for (const changes of [{}, { a: 1, 'a.b': 2 }, { 'x.y.z': 1, x: 1 }])
      await refusedFor('VALIDATION_ERROR', data.write(worker, path, changes, { operation: 'update' }));
    for (const name of ['', 'a.', '.a', 'a..b', '__x__', 'a.__x__', 'a\ud800'])
      await refusedFor('INVALID_DATA_TYPE', data.write(worker, path, { [name]: 1 }, { operation: 'update' }));
    const nested = { a: { b: { __delete__: true } } };
    await refusedFor('INVALID_DATA_TYPE', data.write(worker, path, nested, { operation: 'update' }));
    assert.deepEqual(await stored(path), { a: 1 });
  });

  it('adds a document with a new key with push', async () => {
    const path = `${place()}/messages`;
    const { key = '', version } = await data.write(worker, path, { text: 'x' }, { operation: 'push' });
    assert.deepEqual(await stored(path), [{ id: key, text: 'x' }]);
    assert.equal((await data.read(worker, `${path}/${key}`)).version, version);
  });

  it('adds only one document with push if the call is repeated', async () => {
    const path = `${place()}/messages`;
    const id = randomUUID();
    const push = { operation: 'push', repetition: { id, argumentsHash: 'hash' } } as const;
    const first = await data.write(worker, path, { n: 1 }, push);
    const second = await data.write(worker, path, { n: 2 }, push);
    assert.equal(first.key, id);
    assert.deepEqual(second, { ...first, isRepetition: true });
    assert.deepEqual(await stored(path), [{ id, n: 1 }]);
  });

  it('deletes a document, and succeeds even if the document does not exist', async () => {
    const path = await put({ a: 1 });
    for (const transaction of [false, true]) {
      const { version } = await data.write(worker, path, null, { operation: 'delete', transaction });
      assert.equal(version, undefined);
      await refusedFor('NOT_FOUND', data.read(worker, path));
    }
  });

  it('refuses documents that are not objects', async () => {
    for (const value of [null, 'text', 1, true, [], [{}], { __timestamp__: '2026-01-01T00:00:00Z' }]) {
      for (const operation of ['set', 'update'] satisfies WriteOperation[])
        await refusedFor('INVALID_DATA_TYPE', data.write(worker, place(), value, { operation }));
      await refusedFor('INVALID_DATA_TYPE', data.write(worker, `${place()}/x`, value, { operation: 'push' }));
    }
  });

  it('refuses documents that are too large', async () => {
    const text = 'x'.repeat(1_048_500);
    await refusedFor('SIZE_LIMIT_EXCEEDED', data.write(worker, place(), { text }));
    await refusedFor('SIZE_LIMIT_EXCEEDED', data.write(worker, place(), { text: `${text}${text}` }));
    const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`f${index}`, 1]));
    await refusedFor('SIZE_LIMIT_EXCEEDED', data.write(worker, place(), many));
    await refusedFor('SIZE_LIMIT_EXCEEDED', data.write(worker, place(), many, { operation: 'update' }));
  });

  it('stores server timestamps, and applies increments and array changes', async () => {
    const path = await put({ count: 1, list: ['a', 'b'], kept: 1 });
    await data.write(
      worker,
      path,
      {
        at: { __serverTimestamp__: true },
        count: { __increment__: 2.5 },
        list: { __arrayRemove__: ['a'] },
        more: { inner: { __arrayUnion__: [{ map: 1 }] } },
      },
      { merge: true },
    );
    const fields = (await stored(path)) as JsonObject;
    const { at, ...rest } = fields;
    assert.deepEqual(rest, { count: 3.5, list: ['b'], kept: 1, more: { inner: [{ map: 1 }] } });
    const [written] = Object.values(at as JsonObject);
    assert.ok(Math.abs(Date.parse(String(written)) - Date.now()) < 60_000);
  });

  describe('a transaction of firebase.write', () => {
    const transaction = { transaction: true };

    it('writes if the expected version is the current one', async () => {
      const path = await put({ a: 1, b: { c: 1, d: 1 }, 'dotted.name': 1 });
      const write = async (value: JsonValue, request: object): Promise<JsonValue> => {
        const { version: expectedVersion = null } = await data.read(worker, path);
        const outcome = await data.write(worker, path, value, { ...transaction, expectedVersion, ...request });
        assert.equal(outcome.version, (await data.read(worker, path)).version);
        return stored(path);
      };
      assert.deepEqual(await write({ a: { __increment__: 1 } }, { operation: 'update' }), {
        a: 2,
        b: { c: 1, d: 1 },
        'dotted.name': 1,
      });
      const merged = { b: { c: { __delete__: true }, e: {} }, a: { __delete__: true } };
      assert.deepEqual(await write(merged, { merge: true }), { b: { d: 1, e: {} }, 'dotted.name': 1 });
      assert.deepEqual(await write({ b: { f: 1 }, 'x.y': 2 }, {}), { b: { f: 1 }, 'x.y': 2 });
      assert.deepEqual(await write({}, {}), {});
      assert.deepEqual(await write({}, {}), {});
      assert.deepEqual(await write({}, { merge: true }), {});
    });

    it('returns a conflict if the document has another version', async () => {
      const path = await put({ a: 1 });
      const { version: expectedVersion = '' } = await data.read(worker, path);
      await data.write(worker, path, { a: 2 });
      for (const expected of [expectedVersion, null, '', 'x', '1.2.3'])
        for (const operation of ['set', 'update', 'delete'] satisfies WriteOperation[]) {
          const request = { ...transaction, operation, expectedVersion: expected };
          const { code } = await refusedFor('CONFLICT', data.write(worker, path, { a: 3 }, request));
          assert.equal(code, 'CONFLICT');
        }
      assert.deepEqual(await stored(path), { a: 2 });
    });

    it('creates a document only if no document exists', async () => {
      const path = place();
      const create = { ...transaction, expectedVersion: null };
      const merged = { a: 1, b: { c: { __delete__: true } }, n: { __increment__: 1 } };
      await data.write(worker, path, merged, { ...create, merge: true });
      assert.deepEqual(await stored(path), { a: 1, b: {}, n: 1 });
      await refusedFor('CONFLICT', data.write(worker, path, { a: 2 }, create));
      await refusedFor('CONFLICT', data.write(worker, place(), { a: 2 }, { ...transaction, expectedVersion: '1.2' }));
      await refusedFor('NOT_FOUND', data.write(worker, place(), { a: 1 }, { ...create, operation: 'update' }));
    });

    it('commits only one of several concurrent writes with the same expected version', async () => {
      const path = await put({ n: 'first' }); // A write that does not change the document would keep the version.
      const { version: expectedVersion = '' } = await data.read(worker, path);
      const request = { ...transaction, expectedVersion };
      const attempts = Array.from({ length: 5 }, (_, n) => data.write(worker, path, { n }, request));
      const settled = await Promise.allSettled(attempts);
      assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
      const creating = place();
      const creations = Array.from({ length: 5 }, (_, n) => data.write(worker, creating, { n }, transaction));
      const created = await Promise.allSettled(creations);
      assert.ok(created.filter(({ status }) => status === 'fulfilled').length >= 1);
      for (const one of [...settled, ...created]) {
        if (one.status === 'rejected') await refusedFor('CONFLICT', Promise.reject(one.reason));
      }
    });

    it('rejects increments and array changes if it replaces a document', async () => {
      const path = await put({ n: 1 });
      for (const value of [{ __increment__: 1 }, { __arrayUnion__: [1] }, { __arrayRemove__: [1] }])
        await refusedFor('INVALID_DATA_TYPE', data.write(worker, path, { n: value }, transaction));
      await data.write(worker, path, { at: { __serverTimestamp__: true } }, transaction);
      assert.ok(Object.hasOwn((await stored(path)) as JsonObject, 'at'));
    });
  });

  it('writes nothing if any part of the data is invalid', async () => {
    const path = await put({ a: 1 });
    await refusedFor('INVALID_DATA_TYPE', data.write(worker, path, { a: 2, b: [[1]] }, { operation: 'update' }));
    assert.deepEqual((await firestore().doc(path).get()).data(), { a: 1 });
  });
});
