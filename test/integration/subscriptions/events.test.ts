/** Events of every type in both databases, even of changes that no instance watched. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { EventType } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import { agentCaller } from '../data/callers.ts';
import { Instance, subscribe } from './instance.ts';

const databases = {
  realtime: {
    write: async (path: string, data: object | null) => (await realtimeDatabase()).ref(path).set(data),
    types: ['child_added', 'child_changed', 'child_removed'],
  },
  firestore: {
    write: async (path: string, data: object | null) => {
      const document = firestore().doc(path);
      if (data === null) await document.delete();
      else await document.set(data);
    },
    types: ['document_added', 'document_modified', 'document_deleted'],
  },
} as const;

/** Expected events of each event type after child `a` was added, `b` was changed and `c` was removed. */
const EXPECTED = [['a {"n":1}'], ['b {"n":3} was {"n":2}'], ['c {"n":9} was {"n":9}']];

describe('the events of a subscription', () => {
  const caller = agentCaller('viewer');
  let instance: Instance;

  before(() => {
    instance = new Instance();
  });
  after(() => instance.end());

  for (const database of ['realtime', 'firestore'] as const) {
    const { write, types } = databases[database];

    const prepare = async (eventType: EventType) => {
      const path = `messages/m-${randomUUID()}/list`;
      await Promise.all([write(`${path}/b`, { n: 2 }), write(`${path}/c`, { n: 9 })]);
      const subscriber = await subscribe(instance, caller, { database, path, eventType });
      const happen = () =>
        Promise.all([write(`${path}/a`, { n: 1 }), write(`${path}/b`, { n: 3 }), write(`${path}/c`, null)]);
      return { subscriber, happen };
    };

    for (const [index, eventType] of types.entries()) {
      it(`of type ${eventType} reach a client that waits for them in a poll`, async () => {
        const { subscriber, happen } = await prepare(eventType);
        await subscriber.poll(instance); // This poll starts the watch. The watch then continues for a while.
        const polling = subscriber.poll(instance, 20_000);
        await happen();
        await polling;
        assert.deepEqual(subscriber.told, EXPECTED[index]);
      });

      it(`of type ${eventType} are returned even if no instance watched the change`, async () => {
        const { subscriber, happen } = await prepare(eventType);
        await happen();
        await subscriber.poll(instance);
        assert.deepEqual(subscriber.told, EXPECTED[index]);
        assert.deepEqual((await subscriber.poll(instance)).events, [], 'each event is returned once');
      });
    }

    it(`of type value in ${database} contain the new and the previous value`, async () => {
      const path = `messages/m-${randomUUID()}`;
      const subscriber = await subscribe(instance, caller, { database, path, eventType: 'value' });
      await write(path, { n: 1, deep: { list: [1, 2] } });
      await subscriber.poll(instance);
      const waiting = subscriber.poll(instance, 20_000);
      await write(path, null);
      await waiting;
      assert.deepEqual(subscriber.told, [
        '{"deep":{"list":[1,2]},"n":1} was null',
        'null was {"deep":{"list":[1,2]},"n":1}',
      ]);
    });
  }

  it('can merge rapid changes; the old value in each event is the new value in the previous one', async () => {
    const { write } = databases.realtime;
    const path = `messages/m-${randomUUID()}`;
    const subscriber = await subscribe(instance, caller, { database: 'realtime', path, eventType: 'value' });
    await subscriber.poll(instance);
    for (let n = 1; n <= 50; n++) await write(path, { n });
    await subscriber.until(instance, (reported) => reported.at(-1)?.startsWith('{"n":50}') === true);
    assert.ok(subscriber.told.length < 50, `${subscriber.told.length} events for 50 changes`);
    let last = 'null';
    for (const reported of subscriber.told) {
      const [now, before] = reported.split(' was ');
      assert.equal(before, last, 'each event continues from the previous one');
      last = String(now);
    }
  });
});
