import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { FREE_FORM } from '../../../functions/src/kernel/realtime/database.ts';
import { MAX_CHILDREN } from '../../../functions/src/toolsets/firebase/realtime/writable.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { Person } from '../spine/person.ts';
import { agentCaller, because, personCaller } from './callers.ts';
import { keys, read, stored, write } from './realtime.ts';

/** Returns nested objects, `levels` deep. */
const deep = (levels: number): JsonValue => (levels === 0 ? 1 : { x: deep(levels - 1) });

describe('firebase.write to the Realtime Database', () => {
  let path: string;

  beforeEach(() => {
    path = `shared/${randomUUID()}`;
  });

  describe('writes without a transaction', () => {
    it('with set replace the value, and return the version that the next read returns', async () => {
      await write(path, { a: 1, b: 2 });
      const { version } = await write(path, { c: 3 });
      assert.deepEqual(await stored(path), { c: 3 });
      assert.equal((await read(path)).version, version);
    });

    for (const nothing of [null, {}, [], { a: { b: null } }])
      it(`with set to ${JSON.stringify(nothing)} delete the value`, async () => {
        await write(path, 1);
        assert.equal((await write(path, nothing)).version, undefined);
        assert.equal(await stored(path), null);
      });

    it('store and delete the push token of a browser for its person, as the console does', async () => {
      const person = await personCaller('viewer');
      const { uid } = person.principal;
      const device = `devices/${uid}/${randomUUID()}`;
      const token = { token: 'token-1', registered_at: { '.sv': 'timestamp' } };
      const { devices } = new Person().app.todo.ports;
      await write(device, token, {}, person);
      assert.deepEqual(await devices.of(uid), [{ id: device.split('/')[2], token: 'token-1' }]);
      await assert.rejects(write(device, token, {}, await personCaller('admin')), because('PERMISSION_DENIED'));
      await write(device, {}, { operation: 'delete' }, person);
      assert.deepEqual(await devices.of(uid), []);
    });

    it('store JSON text as text, and return a note about this', async () => {
      const team = new Team();
      const args = { database: 'realtime', path };
      const noted = Object(await answer(team, 'firebase_write', { ...args, data: '{"a":1}' })).metadata;
      assert.equal(noted.type, 'string');
      assert.match(noted.note, /stored as text\. To store an object/);
      assert.equal(await stored(path), '{"a":1}');
      const other = Object(await answer(team, 'firebase_write', { ...args, data: { a: '{"a":1}' } })).metadata;
      assert.deepEqual([other.type, other.note], ['object', undefined]);
    });

    it('with update replace the given children, and delete children that are null', async () => {
      await write(path, { a: { x: 1 }, b: 2, c: 3 });
      await write(path, { a: { y: 1 }, b: null }, { operation: 'update' });
      assert.deepEqual(await stored(path), { a: { y: 1 }, c: 3 });
    });

    it('with update fail if there is no value', async () => {
      await assert.rejects(write(path, { a: 1 }, { operation: 'update' }), because('NOT_FOUND'));
      assert.equal(await stored(path), null);
    });

    it('with update find out whether a large value exists without reading the value', async () => {
      const many = Array.from({ length: 500 }, (_, index) => [`key-${index}`, index] as const);
      await write(path, Object.fromEntries(many));
      await write(path, { more: true }, { operation: 'update' });
      assert.equal((await keys(path)).count, 501);
    });

    it('cannot add children to a full list, but can change its children', async () => {
      const list = `${path}/list`;
      const full = Object.fromEntries(Array.from({ length: MAX_CHILDREN }, (_, index) => [`k${index}`, 1]));
      await write(list, { k0: 1 });
      await write(list, { n: 1 }, { operation: 'push' });
      // This write replaces the whole list, so the tool must check the length of the list again.
      await write(list, full);
      const isFull = because('SIZE_LIMIT_EXCEEDED');
      for (const caller of [agentCaller('worker'), agentCaller('worker')]) {
        await assert.rejects(write(list, 1, { operation: 'push' }, caller), isFull);
        await assert.rejects(write(`${list}/more`, 1, {}, caller), isFull);
        await assert.rejects(write(list, { k0: 2, more: 1 }, { operation: 'update' }, caller), isFull);
        await write(`${list}/k0`, 2, {}, caller);
        await write(list, { k0: 3, k1: 3 }, { operation: 'update' }, caller);
      }
      await assert.rejects(write(list, { ...full, more: 1 }), isFull);
      await write(`${list}/k0`, null);
      await write(list, { more: 1 }, { operation: 'update' });
    });

    it('are rejected if the data has more levels than the rules allow', async () => {
      await assert.rejects(write(path, deep(FREE_FORM.levels - 1)), because('INVALID_DATA_TYPE'));
      await write(path, deep(FREE_FORM.levels - 2));
    });

    it('with push add children with keys that sort by time', async () => {
      const first = await write(path, { n: 1 }, { operation: 'push' });
      const second = await write(path, { n: 2 }, { operation: 'push' });
      assert.ok(first.key && second.key && first.key < second.key);
      assert.deepEqual(await stored(path), { [first.key]: { n: 1 }, [second.key]: { n: 2 } });
    });

    it('with push add only one child if the call is repeated', async () => {
      const repetition = { id: 'abcdef0123', argumentsHash: 'hash' };
      const push = { operation: 'push', repetition } as const;
      assert.equal((await write(path, { n: 1 }, push)).key, 'abcdef0123');
      assert.equal((await write(path, { n: 1 }, push)).key, 'abcdef0123');
      assert.deepEqual(await stored(path), { abcdef0123: { n: 1 } });
    });

    it('with delete succeed whether or not the value exists', async () => {
      await write(path, 1);
      await write(path, null, { operation: 'delete' });
      assert.equal(await stored(path), null);
      await write(path, null, { operation: 'delete' });
    });

    it("with server values store an incremented number and the server's time", async () => {
      await write(path, { count: 5 });
      await write(path, { count: { '.sv': { increment: 3 } }, at: { '.sv': 'timestamp' } }, { operation: 'update' });
      const { data: value } = await read(path);
      assert.ok(typeof value === 'object' && value !== null && 'at' in value && 'count' in value);
      assert.equal(value.count, 8);
      assert.ok(Math.abs(Number(value.at) - Date.now()) < 60_000);
    });

    for (const [what, value, operation] of [
      ['a key with a dot', { ok: { 'a.b': 1 } }, 'set'],
      ['a path as a key', { 'a/b': 1 }, 'update'],
      ['a list of children to update', [1], 'update'],
      ['another server value', { '.sv': 'random' }, 'set'],
      ['a push without data', { a: {} }, 'push'],
      ['a priority', { '.priority': 1, a: 1 }, 'set'],
    ] as const)
      it(`reject ${what} and keep the stored value`, async () => {
        await write(path, { kept: true });
        await assert.rejects(write(path, value, { operation }), because('INVALID_DATA_TYPE'));
        assert.deepEqual(await stored(path), { kept: true });
      });
  });

  describe('a transaction of firebase.write', () => {
    const transaction = true;

    it('writes only if the expected version is the current one', async () => {
      const { version = '' } = await write(path, { n: 1 });
      const second = await write(path, { n: 2 }, { transaction, expectedVersion: version });
      assert.ok(second.version && second.version !== version);
      for (const operation of ['set', 'update', 'delete'] as const) {
        const late = write(path, { n: 3 }, { operation, transaction, expectedVersion: version });
        await assert.rejects(late, because('CONFLICT'));
      }
      assert.deepEqual(await stored(path), { n: 2 });
    });

    it('writes with the version null only if no value exists', async () => {
      await write(path, { n: 1 }, { transaction, expectedVersion: null });
      const late = write(path, { n: 2 }, { transaction, expectedVersion: null });
      await assert.rejects(late, because('CONFLICT'));
      assert.deepEqual(await stored(path), { n: 1 });
    });

    it('with update keeps the children that the call does not name', async () => {
      const { version = '' } = await write(path, { a: 1, b: ['x', 'y'], c: 3 });
      const update = { operation: 'update', transaction, expectedVersion: version } as const;
      await write(path, { a: { '.sv': { increment: 1 } }, c: null, d: 4 }, update);
      assert.deepEqual(await stored(path), { a: 2, b: ['x', 'y'], d: 4 });
    });

    it('updates and deletes even if the call has no expected version', async () => {
      const update = { operation: 'update', transaction } as const;
      await assert.rejects(write(path, { a: 1 }, update), because('NOT_FOUND'));
      await write(path, { a: 1 }, { transaction });
      await write(path, { b: 2 }, update);
      assert.deepEqual(await stored(path), { a: 1, b: 2 });
      await write(path, null, { operation: 'delete', transaction });
      assert.equal(await stored(path), null);
    });

    it('returns a conflict if the expected version is invalid as a value of an HTTP header', async () => {
      for (const expectedVersion of ['*', 'a\r\nx-injected: 1', 'é', ''])
        await assert.rejects(write(path, 1, { transaction, expectedVersion }), because('CONFLICT'));
    });

    it('commits only one of ten concurrent writes with the same expected version', async () => {
      const { version = '' } = await write(path, { n: 0 });
      const attempts = Array.from({ length: 10 }, (_, index) =>
        write(path, { n: index + 1 }, { transaction, expectedVersion: version }),
      );
      const outcomes = await Promise.allSettled(attempts);
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    });
  });
});
