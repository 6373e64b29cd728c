import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { agentCaller, because } from './callers.ts';
import { keys, read, stored, worker, write } from './realtime.ts';
import { withDatabaseAt } from './realtimeReach.ts';
import { withRules } from './realtimeRules.ts';

const viewer = agentCaller('viewer');

describe('firebase.read of the Realtime Database', () => {
  let path: string;

  beforeEach(() => {
    path = `shared/${randomUUID()}`;
  });

  describe('values at a path', () => {
    it('are returned with the number of children and the version', async () => {
      await write(path, { a: { x: 1 }, b: [true, 'two'] });
      const outcome = await read(path);
      assert.deepEqual(outcome.data, { a: { x: 1 }, b: [true, 'two'] });
      assert.equal(outcome.count, 2);
      assert.ok(outcome.version);
      assert.equal((await read(path)).version, outcome.version);
      assert.ok(Math.abs(outcome.timestamp.getTime() - Date.now()) < 60_000);
    });

    it('can be a text or any other value that is not an object', async () => {
      await write(path, 'text');
      const { data: value, count } = await read(path);
      assert.deepEqual([value, count], ['text', 1]);
    });

    it('are omitted in a shallow read, which returns only the keys', async () => {
      await write(path, { a: { x: 1 }, b: 2 });
      const { data: value, count, version } = await keys(path);
      assert.deepEqual([value, count, version], [{ a: true, b: true }, 2, undefined]);
    });

    it('cause NOT_FOUND if there is no value at the path', async () => {
      await assert.rejects(read(path), because('NOT_FOUND'));
      await assert.rejects(keys(path), because('NOT_FOUND'));
    });

    it('are an empty object if the query matches no child', async () => {
      assert.deepEqual((await read(path, { limit: 5 })).data, {});
      await write(path, { a: 1 });
      const { data: value, count, nextCursor } = await read(path, { orderBy: '$key', startAt: 'b' });
      assert.deepEqual([value, count, nextCursor], [{}, 0, undefined]);
    });

    it('cause an error above the maximum size of a response, but can be read in pages', async () => {
      const text = 'x'.repeat(1_000_000);
      const parts = Array.from({ length: 9 }, (_, index) => write(`${path}/part${index}`, text));
      await Promise.all(parts);
      await assert.rejects(read(path), because('SIZE_LIMIT_EXCEEDED'));
      assert.equal((await keys(path)).count, 9);
      const { count, nextCursor } = await read(path, { limit: 2 });
      assert.deepEqual([count, nextCursor === undefined], [1, false], 'only one child fits, and a cursor follows');
    });
  });

  describe('security rules', () => {
    it('decide each call, and apply immediately after a change', async () => {
      await assert.rejects(write(path, 1, {}, viewer), because('PERMISSION_DENIED'));
      const loosened = { '.read': true, $first: { '.write': "auth.token.role === 'viewer'" } };
      await withRules(
        (rules) => ({ ...rules, shared: loosened }),
        async () => {
          await write(path, 1, {}, viewer);
          await assert.rejects(write(path, 2), because('PERMISSION_DENIED'));
        },
      );
      await assert.rejects(write(path, 3, {}, viewer), because('PERMISSION_DENIED'));
      assert.equal(await stored(path), 1);
    });

    it('can refer to the uid, the sign-in provider and the claims of the caller', async () => {
      const rule = `auth.uid === '${worker.principal.uid}' && auth.provider === 'custom' && auth.token.kind === 'agent' && auth.token.agentId === '${worker.principal.agent_id}'`;
      await withRules(
        (rules) => ({ ...rules, mine: { '.read': rule, '.write': rule } }),
        async () => {
          await write('mine/thing', 1);
          assert.equal((await read('mine/thing')).data, 1);
          await assert.rejects(read('mine/thing', undefined, agentCaller('admin')), because('PERMISSION_DENIED'));
        },
      );
    });
  });

  it('sorts a small node that has no index, and names the missing index', async () => {
    await write(path, { a: { score: 3 }, b: { score: 1 }, c: { score: 2 } });
    for (const [orderBy, index] of [
      ['score', '"score"'],
      ['author/name', '"author/name"'],
      ['$value', '".value"'],
    ] as const) {
      const { missingIndex = '' } = await read(path, { orderBy });
      assert.match(missingIndex, /database\.rules\.json/);
      assert.ok(missingIndex.includes(`".indexOn": [${index}]`) && missingIndex.includes(path), missingIndex);
    }
    const { data, count, nextCursor } = await read(path, { orderBy: 'score', startAt: 2, limit: 1 });
    assert.deepEqual([data, count, nextCursor === undefined], [{ c: { score: 2 } }, 1, false]);
    const reported = await answer(
      new Team(),
      'firebase_read',
      { database: 'realtime', path, query: { orderBy: 'score', limit: 1 } },
      worker.principal,
    );
    assert.match(JSON.stringify(reported), /"indexed":false,"note":"This order has no index, .*database\.rules\.json/);
  });

  it('does not sort a large node that has no index; the error names the missing index', async () => {
    const large = Object.fromEntries(
      Array.from({ length: 11 }, (_, index) => [`k${index}`, { score: index, text: 'x'.repeat(100_000) }]),
    );
    await (await realtimeDatabase()).ref(path).set(large);
    await assert.rejects(read(path, { orderBy: 'score', limit: 1 }), (error: unknown) => {
      because('MISSING_INDEX')(error);
      assert.match(String(error), /the data exceeds 1048576 bytes/);
      return (error as { details: { suggestion: string } }).details.suggestion.includes('".indexOn": ["score"]');
    });
  });

  it('succeeds under rules that allow only queries on a node', async () => {
    await withRules(
      (rules) => ({ ...rules, mine: { '.write': 'auth != null', '.read': 'query.limitToFirst <= 1001' } }),
      async () => {
        await write('mine', { a: { score: 1 } });
        await assert.rejects(read('mine', { orderBy: 'score' }), because('MISSING_INDEX'));
      },
    );
  });

  it('fails immediately if the database is unreachable, and the error does not show the token', async () => {
    await withDatabaseAt('127.0.0.1:1', async () => {
      await assert.rejects(write(path, 1), because('CONNECTION_ERROR'));
      await assert.rejects(read(path), (error: unknown) => {
        assert.doesNotMatch(
          inspect(error, { depth: 20, showHidden: true }),
          /auth=|eyJ/,
          'the error contains the token',
        );
        return because('CONNECTION_ERROR')(error);
      });
    });
  }).timeout(30_000);
});
