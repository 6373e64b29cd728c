/** Creation, rejection, limits, expiry and removal of subscriptions. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { QuerySnapshot } from '@google-cloud/firestore';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import { MAX_SUBSCRIPTIONS } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import {
  type SubscriptionRequest,
  SubscriptionService,
} from '../../../functions/src/toolsets/firebase/rules/subscriptionService.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { silent } from '../coordination/team.ts';
import { agentCaller, because } from '../data/callers.ts';
import { changeRules, restoreRules } from '../data/firestore/rules.ts';
import { changeRules as changeRealtimeRules } from '../data/realtimeRules.ts';
import { Instance, kept, LONGER_THAN_ANY_TEST_MS, newPath, Subscriber, subscribe, write } from './instance.ts';

const unkeyed = (): undefined => undefined;

function stored({ subscriptionId }: Subscriber): Promise<QuerySnapshot> {
  const all = firestore().collection(COLLECTIONS.subscriptions);
  return all.where('subscription_id', '==', subscriptionId).get();
}

describe('a subscription', () => {
  const caller = agentCaller('viewer');
  let now = new Date();
  let instance: Instance;

  before(() => {
    instance = new Instance({ now: () => now });
  });
  beforeEach(() => {
    now = new Date();
  });
  after(() => instance.end());

  const request = (wish: Partial<SubscriptionRequest> = {}): SubscriptionRequest => ({
    subscriptionId: `sub-${randomUUID()}`,
    database: 'realtime',
    path: newPath(),
    eventType: 'child_added',
    ...wish,
  });
  const begin = (wish: SubscriptionRequest, by = caller) => instance.subscriptions.subscribe(by, wish, unkeyed);
  const poll = ({ subscriptionId }: SubscriptionRequest, cursor?: string, by = caller) =>
    instance.subscriptions.poll(by, { subscriptionId, cursor }, 0);

  it('starts with the existing data, for which it reports no events', async () => {
    const wish = request();
    await write(wish.path, { a: { n: 1 } });
    const { data, cursor } = await begin(wish);
    assert.deepEqual([...data], [['a', { n: 1 }]]);
    assert.deepEqual((await poll(wish, cursor)).events, []);
  });

  it('continues if a call creates it again with equal arguments', async () => {
    const wish = request();
    const first = await begin(wish);
    await write(wish.path, { a: 1 });
    await poll(wish);
    const again = await begin(wish);
    assert.deepEqual([...again.data], [['a', 1]]);
    assert.deepEqual((await poll(wish, again.cursor)).events, []);
    assert.equal((await poll(wish, first.cursor)).events.length, 1);
  });

  it('is not replaced by a call with its id but other arguments', async () => {
    const wish = request();
    await begin(wish);
    await assert.rejects(begin({ ...wish, path: newPath() }), because('CONFLICT'));
  });

  it('is created once by five concurrent calls', async () => {
    const wish = request();
    const made = await Promise.all(Array.from({ length: 5 }, () => begin(wish)));
    assert.equal(new Set(made.map(({ cursor }) => cursor.split('.')[0])).size, 1);
  });

  it('can be read and unsubscribed only by its owner', async () => {
    const wish = request();
    await begin(wish);
    await assert.rejects(poll(wish, undefined, agentCaller('admin')), because('NOT_FOUND'));
    await assert.rejects(
      instance.subscriptions.unsubscribe(agentCaller('admin'), wish.subscriptionId, unkeyed),
      because('NOT_FOUND'),
    );
  });

  for (const [what, wish, reason] of [
    ['documents of the Realtime Database', { eventType: 'document_added' }, 'VALIDATION_ERROR'],
    ['children of Firestore', { database: 'firestore', eventType: 'child_added' }, 'VALIDATION_ERROR'],
    [
      'documents of a document',
      { database: 'firestore', path: 'messages/m', eventType: 'document_added' },
      'VALIDATION_ERROR',
    ],
    ['a malformed path', { path: 'messages//m' }, 'INVALID_PATH'],
    ['an unreadable path in the Realtime Database', { path: 'bus' }, 'PERMISSION_DENIED'],
    [
      'an unreadable path in Firestore',
      { database: 'firestore', path: 'credentials', eventType: 'document_added' },
      'PERMISSION_DENIED',
    ],
  ] as const)
    it(`is rejected for ${what}`, () => assert.rejects(begin(request(wish)), because(reason)));

  it('is rejected if its path has too many children, and ends when the path gets too many', async () => {
    const children = (count: number) => Object.fromEntries(Array.from({ length: count }, (_unused, n) => [`k${n}`, 1]));
    const many = request();
    await write(many.path, children(1001));
    await assert.rejects(begin(many), because('SIZE_LIMIT_EXCEEDED'));
    const grows = request();
    await begin(grows);
    await write(grows.path, children(1001));
    await assert.rejects(poll(grows), because('SIZE_LIMIT_EXCEEDED'));
    await assert.rejects(poll(grows), because('SIZE_LIMIT_EXCEEDED'));
  });

  it('is rejected if its value is too large, and ends if its value becomes too large', async () => {
    const large = request({ eventType: 'value' });
    await write(large.path, { text: 'x'.repeat(1_100_000) });
    await assert.rejects(begin(large), because('SIZE_LIMIT_EXCEEDED'));
    const grows = request({ eventType: 'value' });
    await begin(grows);
    await write(grows.path, { text: 'x'.repeat(1_100_000) });
    await assert.rejects(poll(grows), because('SIZE_LIMIT_EXCEEDED'));
  });

  it('is rejected if the caller already has 50 subscriptions', async () => {
    const collector = agentCaller('viewer');
    const wishes = Array.from({ length: MAX_SUBSCRIPTIONS }, () => request());
    await Promise.all(wishes.map((wish) => begin(wish, collector)));
    await assert.rejects(begin(request(), collector), because('QUOTA_EXCEEDED'));
    await begin(wishes[0]!, collector);
    await instance.subscriptions.unsubscribe(collector, wishes[0]!.subscriptionId, unkeyed);
    await begin(request(), collector);
  });

  it('rejects an invalid cursor, and a cursor of another log', async () => {
    const wish = request();
    const { cursor } = await begin(wish);
    const log = cursor.split('.')[0];
    for (const hostile of ['x', `${log}.99.0`, '../../x.1.0'])
      await assert.rejects(poll(wish, hostile), because('INVALID_CURSOR'), hostile);
  });

  it('reports an overflow for a cursor of an earlier subscription that had the same id', async () => {
    const wish = request();
    const { cursor } = await begin(wish);
    await instance.subscriptions.unsubscribe(caller, wish.subscriptionId, unkeyed);
    const { cursor: other } = await begin(wish);
    assert.notEqual(other, cursor);
    assert.equal((await poll(wish, cursor)).overflow, true);
  });

  it('ends all its polls and streams, and deletes all its data, when it is unsubscribed', async () => {
    const another = new Instance();
    const subscriber = await subscribe(instance, caller, { database: 'realtime', path: newPath(), eventType: 'value' });
    await subscriber.poll(instance);
    const readers = [subscriber.poll(instance, 20_000), subscriber.poll(another, 20_000)].map((reading) =>
      assert.rejects(reading, because('NOT_FOUND')),
    );
    await eventually('the subscription is watched', async () =>
      (await kept(subscriber)).lease?.reading ? true : undefined,
    );
    await instance.subscriptions.unsubscribe(caller, subscriber.subscriptionId, unkeyed);
    await Promise.all(readers);
    await eventually('all data is deleted', async () => ((await kept(subscriber)).exists ? undefined : true));
    await assert.rejects(
      instance.subscriptions.unsubscribe(caller, subscriber.subscriptionId, unkeyed),
      because('NOT_FOUND'),
    );
    await another.end();
  });

  it('ends before its log is deleted; a sweep deletes the log if the instance crashes in between', async () => {
    const subscriber = await subscribe(instance, caller, { database: 'realtime', path: newPath(), eventType: 'value' });
    await subscriber.poll(instance);
    const { events } = instance.composition.firebase.ports;
    const dying = new SubscriptionService({
      ...instance.composition.firebase.ports,
      log: silent,
      events: Object.assign(Object.create(events), {
        remove: async () => {
          await assert.rejects(subscriber.poll(instance), because('NOT_FOUND'));
          throw new Error('killed');
        },
      }),
    });
    await dying.unsubscribe(caller, subscriber.subscriptionId, unkeyed);
    assert.equal((await kept(subscriber)).exists, true);
    await instance.subscriptions.expire();
    assert.equal((await kept(subscriber)).exists, false);
    assert.equal((await stored(subscriber)).size, 0);
  });

  it('is kept as long as it is read, and is deleted by a sweep one day after the last read', async () => {
    const subscriber = await subscribe(instance, caller, { database: 'realtime', path: newPath(), eventType: 'value' });
    await subscriber.poll(instance);
    const later = (hours: number): void => {
      now = new Date(now.getTime() + hours * 3_600_000);
    };
    later(23);
    await subscriber.poll(instance);
    later(23);
    await instance.subscriptions.expire();
    await subscriber.poll(instance);
    later(25);
    await assert.rejects(subscriber.poll(instance), because('NOT_FOUND'));
    assert.equal((await kept(subscriber)).exists, true);
    await eventually('the subscription is swept', async () =>
      (await instance.subscriptions.expire()) === 0 ? true : undefined,
    );
    assert.equal((await kept(subscriber)).exists, false);
    assert.equal((await stored(subscriber)).size, 0);
  });

  it('can be created again after its expiry, even if no sweep has deleted it yet', async () => {
    const wish = request();
    const { cursor } = await begin(wish);
    now = new Date(now.getTime() + 25 * 3_600_000);
    const again = await begin({ ...wish, path: newPath() });
    assert.notEqual(again.cursor, cursor);
    assert.equal((await kept({ log: String(cursor.split('.')[0]) })).exists, false);
    assert.deepEqual((await poll(wish, again.cursor)).overflow, false);
  });

  describe('whose instance crashed before it created the log', () => {
    let wish: SubscriptionRequest;
    let cursor: string;

    /** Creates a subscription. Stores the cursor that the client gets when it repeats its call after the crash. */
    beforeEach(async () => {
      wish = request();
      const { events } = instance.composition.firebase.ports;
      const dying = new SubscriptionService({
        ...instance.composition.firebase.ports,
        events: Object.assign(Object.create(events), { create: () => Promise.reject(new Error('killed')) }),
      });
      let answer: { readonly cursor: string } | undefined;
      const settle = (subscribed: { readonly cursor: string }) => {
        answer = subscribed;
        return undefined;
      };
      await assert.rejects(dying.subscribe(caller, wish, settle), /killed/);
      assert.ok(answer);
      ({ cursor } = answer);
      await write(wish.path, { came: 1 });
      await write(wish.path, { came: null, stays: 2 });
    });

    it('first reports one overflow, and then continues', async () => {
      const first = await poll(wish, cursor);
      assert.deepEqual([first.events, first.overflow], [[], true]);
      await write(wish.path, { a: 1 });
      const second = await poll(wish, first.cursor);
      assert.deepEqual([second.events.map(({ event }) => event.key), second.overflow], [['a'], false]);
      assert.equal((await poll(wish)).overflow, true, 'a reader without a cursor gets the overflow too');
    });

    it('reports the overflow immediately to a waiting poll', async () => {
      const { overflow } = await instance.subscriptions.poll(caller, { ...wish, cursor }, LONGER_THAN_ANY_TEST_MS);
      assert.equal(overflow, true);
    });

    it('loses no event of a caller who subscribes again', async () => {
      const again = await begin(wish);
      assert.deepEqual([...again.data], [['stays', 2]]);
      await write(wish.path, { a: 1 });
      const { events, overflow } = await poll(wish, again.cursor);
      assert.deepEqual([events.map(({ event }) => event.key), overflow], [['a'], false]);
      assert.equal((await poll(wish, cursor)).overflow, true, 'the first cursor gets the overflow');
    });

    it('reports the overflow again if the instance that then creates the log crashes', async () => {
      const { events } = instance.composition.firebase.ports;
      const [log] = cursor.split('.');
      await events.append(String(log), { sequence: 1, writer: 'dead', transitions: [], isAfterLoss: true });
      const first = await poll(wish, cursor);
      assert.equal(first.overflow, true);
      await write(wish.path, { between: 1 });
      const second = await poll(wish, first.cursor);
      assert.equal(second.overflow, true);
      await write(wish.path, { a: 1 });
      const keys = (await poll(wish, second.cursor)).events.map(({ event }) => event.key);
      assert.deepEqual(keys, ['a']);
    });
  });

  it('keeps at most 1,000 events, and reports that older events were dropped', async () => {
    const wish = request();
    const { cursor } = await begin(wish);
    const subscriber = new Subscriber(caller, wish.subscriptionId);
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const keys = Array.from({ length: 300 }, (_unused, n) => `r${round}-${n}`);
      await write(wish.path, Object.fromEntries(keys.map((key) => [key, round])));
      await subscriber.until(instance, (reported) => reported.length >= 300 * (round + 1));
      await write(wish.path, Object.fromEntries(keys.map((key) => [key, null])));
    }
    assert.equal(new Set(subscriber.told).size, 300 * rounds, 'a reader that keeps up receives all events');
    assert.ok(subscriber.readings.every(({ overflow }) => !overflow));
    await subscriber.poll(instance); // This poll adds the removal of all children to the log.
    const late = new Subscriber(caller, wish.subscriptionId);
    late.cursor = cursor;
    assert.equal((await late.poll(instance)).overflow, true);
    await late.until(instance, (reported) => reported.at(-1) === subscriber.told.at(-1));
    assert.equal(late.readings.filter(({ overflow }) => overflow).length, 1);
    assert.ok(late.told.length <= 1000 && late.told.length >= 500, `${late.told.length} events were kept`);
    assert.deepEqual(late.told, subscriber.told.slice(-late.told.length));
  });

  for (const database of ['realtime', 'firestore'] as const)
    it(`cannot be read while the rules of ${database} deny this, and continues afterwards`, async () => {
      const wish = request({ database, eventType: 'value' });
      await begin(wish);
      await poll(wish);
      const another = new Instance();
      const restore = await closeMessages[database]();
      try {
        const reading = another.subscriptions.poll(caller, { subscriptionId: wish.subscriptionId }, 0);
        await assert.rejects(reading, because('PERMISSION_DENIED'));
      } finally {
        await restore();
        await another.end();
      }
      assert.deepEqual((await poll(wish)).events, []);
    });

  it('ends a waiting poll as soon as the rules deny it', async () => {
    // Tests only the Realtime Database, because Firestore's emulator does not end listeners when its rules change.
    const wish = request();
    await begin(wish);
    await poll(wish);
    const reading = instance.subscriptions.poll(caller, { subscriptionId: wish.subscriptionId }, 20_000);
    const refused = assert.rejects(reading, because('PERMISSION_DENIED'));
    const restore = await closeMessages.realtime();
    await refused.finally(restore);
  });
});

const closeMessages = {
  realtime: () => changeRealtimeRules((rules) => ({ ...rules, messages: { '.read': false } })),
  firestore: async () => {
    await changeRules('match /messages/{first} {', 'match /closed/{first} {');
    return restoreRules;
  },
};
