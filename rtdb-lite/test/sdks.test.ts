/** Tests the common operations of both SDKs. */
import assert from 'node:assert/strict';
import { type Server, startServer } from '../src/server.ts';
import type { Constraint } from './support/constraints.ts';
import { eventually } from './support/eventually.ts';
import { adminSdk, clientSdk, type EventName, type Sdk } from './support/sdk.ts';

const scores = { p1: { n: 'a', sc: 10 }, p2: { n: 'b', sc: 30 }, p3: { n: 'c', sc: 20 }, p4: { n: 'd', sc: 40 } };
const byScore: Constraint = ['orderByChild', 'sc'];

for (const name of ['admin', 'client'] as const)
  describe(`the ${name} SDK`, () => {
    let server: Server;
    let sdk: Sdk;
    let other: Sdk;

    before(async () => {
      server = await startServer();
      sdk = name === 'admin' ? adminSdk(server, 'test') : clientSdk(server, 'test', 'alice');
      other = clientSdk(server, 'test');
      await sdk.set('s', scores);
    });
    after(async () => {
      await Promise.all([sdk.close(), other.close()]);
      await server.close();
    });

    it('sets a value and reads it', async () => {
      await sdk.set('a', { x: 1, s: 'é' });
      assert.deepEqual((await sdk.once('a')).value, { x: 1, s: 'é' });
      assert.deepEqual((await sdk.get('a')).value, { x: 1, s: 'é' });
      assert.equal((await sdk.get('nope')).exists, false);
    });

    it('updates several paths with one write', async () => {
      await sdk.set('u', { a: { x: 1, s: 'é' } });
      await sdk.update('u', { 'a/x': 2, 'b/deep/y': true });
      assert.deepEqual((await sdk.get('u')).value, { a: { x: 2, s: 'é' }, b: { deep: { y: true } } });
    });

    it('pushes and removes children', async () => {
      const key = await sdk.push('list', { v: 1 });
      assert.match(key ?? '', /^-[\w-]{19}$/);
      assert.deepEqual((await sdk.get(`list/${key}`)).value, { v: 1 });
      await sdk.remove(`list/${key}`);
      assert.equal((await sdk.get('list')).exists, false);
    });

    it('resolves server values', async () => {
      await sdk.set('sv', { t: sdk.timestamp, n: 5 });
      await sdk.update('sv', { n: sdk.increment(3) });
      assert.equal((await sdk.get('sv/n')).value, 8);
      assert.ok(Math.abs(Number((await sdk.get('sv/t')).value) - Date.now()) < 60_000);
    });

    it('runs 20 transactions of two clients concurrently', async () => {
      const increment = (value: unknown) => Number(value ?? 0) + 1;
      const both = Array.from({ length: 10 }, () => [sdk, other]).flat();
      await Promise.all(both.map((one) => one.transaction('count', increment)));
      assert.equal((await sdk.get('count')).value, 20);
    });

    it('aborts a transaction without a change', async () =>
      assert.equal(await sdk.transaction('count', (value) => (value === 20 ? undefined : value)), false));

    const queries: [string, Constraint[]][] = [
      ['p2,p4', [byScore, ['limitToLast', 2]]],
      ['p3,p2', [byScore, ['startAt', 15], ['endAt', 30]]],
      ['p3,p2', [byScore, ['startAfter', 10], ['endBefore', 40]]],
      [
        'p3',
        [
          ['orderByChild', 'n'],
          ['equalTo', 'c'],
        ],
      ],
      ['p2,p3', [['orderByKey'], ['startAt', 'p2'], ['limitToFirst', 2]]],
    ];
    for (const [expected, constraints] of queries)
      it(`queries ${JSON.stringify(constraints)}`, async () => {
        assert.equal((await sdk.get('s', ...constraints)).keys().join(), expected);
        assert.equal((await sdk.once('s', ...constraints)).keys().join(), expected);
      });

    it('updates the window of a limited query when data changes', async () => {
      await sdk.set('window', scores);
      const events: string[] = [];
      const constraints: Constraint[] = [byScore, ['limitToLast', 2]];
      const ends = [
        sdk.on('child_added', ({ key }) => events.push(`+${key}`), 'window', ...constraints),
        sdk.on('child_removed', ({ key }) => events.push(`-${key}`), 'window', ...constraints),
      ];
      const told = async (...expected: string[]): Promise<void> => {
        await eventually(() => assert.deepEqual(events.toSorted(), expected));
        events.splice(0);
      };
      await told('+p2', '+p4');
      await other.set('window/p5', { n: 'e', sc: 99 });
      await told('+p5', '-p2');
      await other.remove('window/p4');
      await told('+p2', '-p4');
      for (const end of ends) end();
    });

    it("receives another client's changes", async () => {
      await sdk.set('heard', { a: { o: 1 }, b: { o: 2 } });
      const events: string[] = [];
      const names: EventName[] = ['value', 'child_added', 'child_changed', 'child_moved', 'child_removed'];
      const ends = names.map((event) =>
        sdk.on(event, ({ key }) => events.push(`${event} ${key}`), 'heard', ['orderByChild', 'o']),
      );
      const ofChildren = (): string[] => events.filter((event) => !event.startsWith('value'));
      const added = ['child_added a', 'child_added b'];
      await eventually(() => assert.deepEqual(ofChildren(), added));
      await other.set('heard/a/o', 5);
      await other.remove('heard/b');
      await eventually(() => {
        assert.deepEqual(ofChildren(), [...added, 'child_moved a', 'child_changed a', 'child_removed b']);
        assert.ok(events.length - ofChildren().length >= 3);
      });
      for (const end of ends) end();
    });

    it('stores and returns priorities', async () => {
      await sdk.setWithPriority('priority', { z: 1 }, 7);
      await sdk.setPriority('priority', 9);
      const snapshot = await sdk.get('priority');
      assert.equal(snapshot.priority, 9);
      assert.deepEqual(snapshot.value, { z: 1 });
    });

    it('sends and receives values that need several frames', async () => {
      await sdk.set('big', 'x'.repeat(300_000));
      assert.equal(String((await sdk.once('big')).value).length, 300_000);
    });

    it('performs its onDisconnect writes when it goes offline, and works again after reconnecting', async () => {
      await sdk.set('presence', true);
      await sdk.setOnDisconnect('presence', 'gone');
      sdk.goOffline();
      await eventually(async () => assert.equal((await other.get('presence')).value, 'gone'));
      sdk.goOnline();
      await sdk.set('again', 1);
      assert.equal((await sdk.get('again')).value, 1);
    });
  });
