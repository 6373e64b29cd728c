import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { WatchShape } from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { agentCaller, because, personCaller } from './callers.ts';
import { write } from './realtime.ts';
import { openProxy, withDatabaseAt } from './realtimeReach.ts';
import { changeRules, withRules } from './realtimeRules.ts';
import { openAccess, Recorder } from './realtimeWatching.ts';

const worker = agentCaller('worker');

async function set(path: string, value: unknown): Promise<void> {
  await (await realtimeDatabase()).ref(path).set(value);
}

describe('a watch of the Realtime Database', () => {
  const access = openAccess();
  let path: string;
  let watches: Recorder[];

  beforeEach(() => {
    path = `shared/${randomUUID()}`;
    watches = [];
  });
  afterEach(() => {
    for (const watch of watches) watch.stop();
  });

  function watch(shape: WatchShape, caller = worker, at = path, maxItems = 1000): Recorder {
    const recorder = new Recorder(access, caller, at, { shape, maxItems });
    watches.push(recorder);
    return recorder;
  }

  describe('of one value', () => {
    it('reports the current value and then each change', async () => {
      await set(path, { a: [1, null, 3] });
      const recorder = watch('value');
      assert.deepEqual(await recorder.started(), { '': { a: [1, null, 3] } });
      await set(`${path}/b`, 'two');
      await recorder.reported([['', { a: [1, null, 3], b: 'two' }]]);
      await set(path, 5);
      await recorder.reported([['', 5]]);
      await set(path, null);
      await recorder.reported([['', undefined]]);
    });

    it('starts with no value if the path has none', async () => {
      const recorder = watch('value');
      assert.deepEqual(await recorder.started(), {});
      await set(path, false);
      await recorder.reported([['', false]]);
    });
  });

  describe('of children', () => {
    it('reports the current children and then each change', async () => {
      await set(path, { a: 1, b: { x: 1 } });
      const recorder = watch('children');
      assert.deepEqual(await recorder.started(), { a: 1, b: { x: 1 } });
      await set(`${path}/c`, 3);
      await recorder.reported([['c', 3]]);
      await set(`${path}/b/y`, 2);
      await recorder.reported([['b', { x: 1, y: 2 }]]);
      await set(`${path}/a`, null);
      await recorder.reported([['a', undefined]]);
    });

    it('reports all changes of one server message together', async () => {
      await set(path, { a: 1, b: 2 });
      const recorder = watch('children');
      await recorder.started();
      await set(path, { b: 3, c: 4 });
      const batch = await recorder.next();
      assert.deepEqual(new Map(batch), new Map(Object.entries({ a: undefined, b: 3, c: 4 })));
    });

    it('starts without children if the value at the path is not an object', async () => {
      await set(path, 'text');
      const recorder = watch('children');
      assert.deepEqual(await recorder.started(), {});
      await set(path, { a: 1 });
      await recorder.reported([['a', 1]]);
    });

    it('reports the last of many writes to each child, in order and without repetition', async () => {
      const recorder = watch('children');
      await recorder.started();
      const seen = new Map<string, JsonValue[]>();
      for (let round = 0; round < 20; round++)
        await Promise.all(['a', 'b', 'c'].map((key) => write(`${path}/${key}`, round)));
      await eventually('the last round', async () => {
        const last = new Map(recorder.changes.flat());
        return ['a', 'b', 'c'].every((key) => last.get(key) === 19) || undefined;
      });
      for (const [key, value] of recorder.changes.flat()) seen.set(key, [...(seen.get(key) ?? []), value ?? null]);
      for (const values of seen.values())
        assert.deepEqual(
          values,
          [...new Set(values)].sort((one, other) => Number(one) - Number(other)),
        );
    });

    it('reports up to the maximum number of children, and fails if there are more', async () => {
      await set(path, { a: 1, b: 2 });
      const recorder = watch('children', worker, path, 2);
      assert.deepEqual(await recorder.started(), { a: 1, b: 2 });
      await set(`${path}/c`, 3);
      because('SIZE_LIMIT_EXCEEDED')(await recorder.failed());
      because('SIZE_LIMIT_EXCEEDED')(await watch('children', worker, path, 2).failed());
      because('SIZE_LIMIT_EXCEEDED')(await watch('value', worker, path, 2).failed());
    });
  });

  it('uses data that another watch of the same caller has loaded', async () => {
    await set(path, { a: 1 });
    const first = watch('children');
    await first.started();
    const second = watch('children');
    assert.deepEqual(await second.started(), { a: 1 });
    first.stop();
    await set(`${path}/b`, 2);
    await second.reported([['b', 2]]);
    assert.deepEqual(first.changes, []);
  });

  it('reports nothing after it was stopped', async () => {
    const [stopped, other] = [watch('value'), watch('value')];
    stopped.stop();
    stopped.stop();
    await other.started();
    await set(path, 1);
    await other.reported([['', 1]]);
    assert.equal(stopped.state, undefined);
    assert.deepEqual(stopped.changes, []);
  });

  describe('under security rules', () => {
    for (const shape of ['value', 'children'] as const) {
      it(`of the shape ${shape} fails if the rules deny the read, even if the caller is an admin`, async () => {
        for (const closed of ['credentials', 'limits/agent-1', 'bus', 'anything/else']) {
          const recorder = watch(shape, agentCaller('admin'), closed);
          because('PERMISSION_DENIED')(await recorder.failed());
          assert.equal(recorder.state, undefined);
        }
      });

      it(`of the shape ${shape} fails when stricter rules deny the read to its caller`, async () => {
        await set(path, { a: 1 });
        const person = await personCaller('viewer');
        const [mine, theirs] = [watch(shape), watch(shape, person)];
        await Promise.all([mine.started(), theirs.started()]);
        const restore = await changeRules((rules) => ({
          ...rules,
          shared: { '.read': `auth.uid === '${person.principal.uid}'` },
        }));
        try {
          because('PERMISSION_DENIED')(await mine.failed());
          await set(`${path}/b`, 2);
          await theirs.next();
          assert.equal(mine.changes.length, 0);
        } finally {
          await restore();
        }
      });
    }

    it('starts only if the rules allow the read to its caller', async () => {
      await set('mine/thing', 1);
      because('PERMISSION_DENIED')(await watch('value', worker, 'mine/thing').failed());
      const rule = `auth.provider === 'custom' && auth.token.role === 'worker' && auth.uid === '${worker.principal.uid}'`;
      await withRules(
        (rules) => ({ ...rules, mine: { '.read': rule } }),
        async () => {
          assert.deepEqual(await watch('value', worker, 'mine/thing').started(), { '': 1 });
          const other = watch('value', agentCaller('worker'), 'mine/thing');
          because('PERMISSION_DENIED')(await other.failed());
        },
      );
      await set('mine', null);
    });
  });

  it('continues after a lost connection, and reports all changes in between', async () => {
    await set(path, { a: 1, b: 2 });
    const proxy = await openProxy(process.env['FIREBASE_DATABASE_EMULATOR_HOST'] ?? '');
    const recorder = await withDatabaseAt(proxy.host, async () => {
      const watching = new Recorder(openAccess(), worker, path, { shape: 'children', maxItems: 10 });
      await watching.started();
      return watching;
    });
    watches.push(recorder);
    proxy.cut();
    await set(path, { b: 3, c: 4 });
    const batch = await recorder.next();
    assert.deepEqual(new Map(batch), new Map(Object.entries({ a: undefined, b: 3, c: 4 })));
    recorder.stop();
    proxy.close();
  });

  it("ends when a person's token expires", async () => {
    const person = await personCaller('viewer');
    const later = new Date(Date.now() + 3_700_000);
    const recorder = new Recorder(openAccess({ now: () => later }), person, path, { shape: 'value', maxItems: 10 });
    const error = await recorder.failed();
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'TOKEN_EXPIRED');
  });

  it('fails after a timeout if the database is unreachable', async () => {
    await withDatabaseAt('127.0.0.1:1', async () => {
      const unreachable = openAccess(undefined, 500);
      because('CONNECTION_ERROR')(
        await new Recorder(unreachable, worker, path, { shape: 'value', maxItems: 10 }).failed(),
      );
    });
  });

  it('does not keep the process running after it is stopped', async () => {
    await set(path, { a: 1 });
    const program = `${import.meta.dirname}/realtimeWatchingProgram.ts`;
    const options = { timeout: 120_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [program, path], options);
    assert.deepEqual(JSON.parse(stdout), { started: 3, apps: ['[DEFAULT]'] });
  });
});
