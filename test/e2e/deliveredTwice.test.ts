/**
 * Every trigger and every message comes twice, late and out of order, and the sender of reminders is killed
 * half-way: all that follows is there exactly once. The built functions run as in production; what Eventarc,
 * Pub/Sub and Cloud Scheduler do, the test does.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import { getDatabase } from 'firebase-admin/database';
import { LocalFcm } from '../support/fcm/server.ts';
import { Deliveries, type Order } from './support/delivery/deliveries.ts';
import { Deployment, hold } from './support/delivery/deployment.ts';
import { eventually } from './support/waiting.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const unkeyed = (): undefined => undefined;

const ORDERS: Readonly<Record<string, Order>> = {
  'the latest first': (pending) => pending.pop(),
  'from the middle': (pending) => pending.splice(Math.floor(pending.length / 2), 1)[0],
};

for (const [name, hasBroker] of [
  ['through Pub/Sub', true],
  ['on a machine without Pub/Sub', false],
] as const) {
  describe(`events that come twice, late and out of order, ${name}`, () => {
    const fcm = new LocalFcm();
    let deployment: Deployment;
    let deliveries: Deliveries;
    let uid: string;

    before(async function () {
      if (hasBroker && !process.env['PUBSUB_EMULATOR_HOST']) this.skip();
      await fcm.start();
      deployment = new Deployment({ hasBroker, pushServiceUrl: fcm.url });
      deliveries = await Deliveries.of(deployment, hasBroker);
    });
    after(async () => {
      await deployment?.end();
      await fcm.stop();
    });

    /** Somebody who is told of reminders in every way that there is. */
    beforeEach(async () => {
      deployment.moveTime(0);
      uid = `person-${randomUUID()}`;
      await getAuth(deployment.app).createUser({ uid, email: `${uid}@example.com`, emailVerified: true });
      await deployment.firestore.doc(`preferences/${uid}`).set({ push: true, email: true });
      await getDatabase(deployment.app)
        .ref(`devices/${uid}/phone`)
        .set({ token: `phone-${uid}`, registered_at: 1 });
    });

    const inMinutes = (minutes: number) => new Date(deployment.now().getTime() + minutes * MINUTE_MS);

    /** All of the person's documents in a collection, by id. */
    async function documents(collection: string, owner: string) {
      const found = await deployment.firestore.collection(collection).where(owner, '==', uid).get();
      return new Map(found.docs.map((document) => [document.id, document.data()]));
    }

    async function children(list: string): Promise<readonly string[]> {
      const shown: unknown = (await getDatabase(deployment.app).ref(`${list}/${uid}`).get()).val();
      return Object.keys(Object(shown)).sort();
    }

    /** Starts a sender, kills it while all but one of the reminders are sent, and has two others go on. */
    async function sendThoughOneIsKilled(ids: readonly string[], held: string): Promise<void> {
      const dying = await deployment.start('sendReminders');
      const others = [await deployment.start('sendReminders'), await deployment.start('sendReminders')];
      const free = await hold(deployment.firestore, `reminders/${held}`);
      const run = ({ url }: { url: string }) => fetch(url, { method: 'POST' });
      const death = assert.rejects(run(dying));
      await eventually('the sender is half-way', async () => {
        const sent = await deployment.firestore.getAll(
          ...ids.map((id) => deployment.firestore.doc(`reminders/${id}`)),
        );
        return sent.every((reminder) => reminder.get('sent') === (reminder.id !== held)) || undefined;
      });
      await dying.kill();
      await death;
      await free();
      for (const answer of await Promise.all(others.map(run))) assert.equal(answer.status, 200);
    }

    for (const [order, take] of Object.entries(ORDERS)) {
      it(`have one effect each: ${order}`, async () => {
        const { todos, recurringTasks } = deployment.services;
        const rule = { frequency: 'DAILY', anchor: inMinutes(30) };
        const { first } = await recurringTasks.create(uid, { title: 'Water the plants', rule }, unkeyed);
        const others: string[] = [];
        for (const title of ['One', 'Two', 'Three'])
          others.push((await todos.add(uid, { title, dueDate: inMinutes(30) }, unkeyed)).id);
        const reminded = [first.id, ...others];
        await sendThoughOneIsKilled(reminded, first.id);
        await deliveries.collect();
        await deployment.firestore.doc(`todos/${first.id}`).update({ completed: true });
        await deployment.firestore.doc(`todos/${others[0]}`).update({ title: 'Uno' });
        await deliveries.deliverTwice(take);

        const once = await effects();
        assert.equal(once.todos.size, reminded.length + 1);
        const [next, ...more] = [...once.todos.values()].filter((todo) => !reminded.includes(todo['id']));
        assert.deepEqual(more, []);
        assert.equal(next?.['due_date'].toDate().getTime(), rule.anchor.getTime() + DAY_MS);
        const happened = [...once.events.values()].map(
          ({ task_id, event_type }) => `${event_type} ${task_id}`,
        );
        assert.deepEqual(
          happened.sort(),
          [
            ...reminded.flatMap((id) => [`created ${id}`, `reminder ${id}`]),
            `completed ${first.id}`,
            `updated ${others[0]}`,
            `created ${next?.['id']}`,
          ].sort(),
        );
        const [told, changed] = [true, false].map((isReminder) =>
          [...once.events]
            .filter(([, event]) => (event['event_type'] === 'reminder') === isReminder)
            .map(([id]) => id)
            .sort(),
        );
        assert.deepEqual([...once.audit.keys()].sort(), [...once.events.keys()].sort());
        assert.deepEqual(once.updates, changed);
        assert.deepEqual(once.notifications, told);
        assert.deepEqual([...once.mail.keys()].sort(), told);
        assert.deepEqual(once.pushed, told);
        assert.deepEqual([...once.reminders.keys()].sort(), [...others, next?.['id']].sort());

        deployment.moveTime(DAY_MS / 2);
        await deliveries.repeat();
        assert.deepEqual(await effects(), once);
      });
    }

    /** All that there is of the person's. */
    async function effects() {
      return {
        todos: await documents('todos', 'owner_uid'),
        recurringTasks: await documents('recurringTasks', 'owner_uid'),
        reminders: await documents('reminders', 'owner_uid'),
        events: await documents('events', 'user_id'),
        audit: await documents('audit', 'user_id'),
        mail: await documents('mail', 'user_id'),
        updates: await children('task-updates'),
        notifications: await children('notifications'),
        pushed: fcm
          .of(`phone-${uid}`)
          .map(({ data }) => String(data['event_id']))
          .sort(),
      };
    }
  });
}
