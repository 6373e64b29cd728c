/** Subscriptions while instances start, stall and crash. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { statusCode } from '../../../functions/src/kernel/firestore/verifiedCommit.ts';
import type { LoggedEvent } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { agentCaller } from '../data/callers.ts';
import { Instance, kept, LONGER_THAN_ANY_TEST_MS, newPath, type Subscriber, subscribe, write } from './instance.ts';

const caller = agentCaller('viewer');

describe('a subscription on several instances', () => {
  const instances: Instance[] = [];
  const newInstance = (): Instance => {
    const instance = new Instance();
    instances.push(instance);
    return instance;
  };
  after(() => Promise.all(instances.map((instance) => instance.end())));

  const wishes = {
    realtime: { database: 'realtime', eventType: 'child_added' },
    firestore: { database: 'firestore', eventType: 'document_added' },
  } as const;

  async function subscribed(
    instance: Instance,
    database: keyof typeof wishes = 'realtime',
  ): Promise<{ path: string; subscriber: Subscriber }> {
    const path = newPath();
    return { path, subscriber: await subscribe(instance, caller, { ...wishes[database], path }) };
  }

  const writing = {
    realtime: (path: string, key: string, n: number) => write(path, { [key]: { n } }),
    firestore: async (path: string, key: string, n: number) => {
      await resend(() => firestore().doc(`${path}/${key}`).set({ n }));
    },
  };

  it('is watched by one instance, and can be polled through any instance', async () => {
    const [one, another] = [newInstance(), newInstance()];
    const { path, subscriber } = await subscribed(one);
    await subscriber.poll(one);
    const [first, second] = [subscriber.poll(one, 20_000), subscriber.poll(another, 20_000)];
    await eventually('one watch', async () => (one.watches.size + another.watches.size === 1 ? true : undefined));
    await write(path, { a: 1 });
    const [here, there] = await Promise.all([first, second]);
    assert.deepEqual(there.events, here.events);
    assert.equal(here.events.length, 1);
  });

  it('is watched by another instance if only that instance still has a poll or stream', async () => {
    const [one, another] = [newInstance(), newInstance()];
    const { path, subscriber } = await subscribed(one);
    await subscriber.poll(one);
    assert.equal(one.watches.size, 1, 'the first instance keeps watching for a while');
    const polling = subscriber.poll(another, 20_000);
    await eventually('the first watch has stopped', async () => (one.watches.size === 0 ? true : undefined));
    await write(path, { a: 1 });
    await polling;
    assert.deepEqual(subscriber.told, ['a 1']);
  });

  for (const database of ['realtime', 'firestore'] as const)
    it(`loses no event of ${database} if the watching instance is killed repeatedly`, async () => {
      let watching = newInstance();
      const { path, subscriber } = await subscribed(watching, database);
      const bystander = newInstance();
      const keys = Array.from({ length: 60 }, (_unused, n) => `k${String(n).padStart(3, '0')}`);
      for (const [n, key] of keys.entries()) {
        if (n % 20 === 10) {
          watching.kill();
          watching = newInstance();
        }
        const reader = n % 2 === 0 ? watching : bystander;
        const written = writing[database](path, key, n);
        if (n % 3 === 0) await subscriber.poll(reader, 500);
        await written;
      }
      const reported = await subscriber.until(watching, (events) => events.length >= keys.length);
      const expected = keys.map((key, n) => `${key} {"n":${n}}`);
      assert.deepEqual([...reported].sort(), expected);
      const cursors = subscriber.readings.flatMap(({ events }) => events.map(({ cursor }) => cursor));
      assert.equal(new Set(cursors).size, keys.length);
    });

  it('sends events to a waiting poll at another instance if the watching instance is killed', async () => {
    const [one, another] = [newInstance(), newInstance()];
    const { path, subscriber } = await subscribed(one);
    await subscriber.poll(one);
    const lost = subscriber.poll(one, 3000);
    await eventually('a reader waits', async () => ((await kept(subscriber)).lease?.reading ? true : undefined));
    const polling = subscriber.poll(another, 20_000);
    one.kill();
    await write(path, { a: 1 });
    assert.equal((await polling).events.length, 1);
    lost.catch(() => undefined);
  });

  it('is no longer watched, and has no lease, after its last poll or stream has ended', async () => {
    const one = newInstance();
    const { subscriber } = await subscribed(one);
    await subscriber.poll(one);
    assert.equal(one.watches.size, 1);
    await eventually('the watch has stopped', async () => (one.watches.size === 0 ? true : undefined));
    await eventually('the lease is deleted', async () => ((await kept(subscriber)).lease === null ? true : undefined));
  });

  it('ends a poll when the polling client disconnects', async () => {
    const one = newInstance();
    const { subscriber } = await subscribed(one);
    const missing = new AbortController();
    const { cursor } = await subscriber.poll(one);
    const polling = one.subscriptions.poll(
      caller,
      { subscriptionId: subscriber.subscriptionId, cursor },
      LONGER_THAN_ANY_TEST_MS,
      missing.signal,
    );
    missing.abort();
    assert.deepEqual((await polling).events, []);
  });

  it('can be read from any cursor on without lost or repeated events', async () => {
    const [one, another] = [newInstance(), newInstance()];
    const { path, subscriber } = await subscribed(one);
    const following = collect(one, subscriber, 10);
    for (let n = 0; n < 10; n++) await write(path, { [`k${n}`]: n });
    const seen = await following;
    assert.deepEqual(seen.map(keyIn), ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9']);
    for (const [index, { cursor }] of seen.entries()) {
      const { events } = await one.subscriptions.poll(caller, { ...subscriber.from, cursor }, 0);
      assert.deepEqual(events, seen.slice(index + 1));
    }
    subscriber.cursor = seen[4]?.cursor;
    assert.deepEqual(await collect(another, subscriber, 5), seen.slice(5));
  });
});

/** Sends a write again if the Firestore emulator ends it with UNKNOWN (2), which the client does not do itself. */
async function resend(write: () => Promise<unknown>): Promise<void> {
  await write().catch((error: unknown) => {
    if (statusCode(error) !== 2) throw error;
    return write();
  });
}

/** Reads the subscription until `count` events have arrived, and returns the events. */
async function collect(instance: Instance, subscriber: Subscriber, count: number): Promise<LoggedEvent[]> {
  const missing = new AbortController();
  const seen: LoggedEvent[] = [];
  for await (const { events } of instance.subscriptions.follow(caller, subscriber.from, missing.signal)) {
    assert.ok(events.length > 0);
    seen.push(...events);
    if (seen.length >= count) missing.abort();
  }
  return seen;
}

function keyIn({ event }: LoggedEvent): string | undefined {
  return event.key;
}
