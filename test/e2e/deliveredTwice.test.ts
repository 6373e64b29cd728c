/**
 * Every event and message is delivered twice, late and in another order, and a process that sends reminders is
 * killed. Nevertheless, each effect must exist exactly once. The built functions run as in production, but the test
 * delivers events and starts schedules in place of Eventarc, Pub/Sub and Cloud Scheduler.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import { getDatabase } from 'firebase-admin/database';
import { SEND_BATCH } from '../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { LocalFcm } from '../support/fcm/server.ts';
import { defaultOrNightly } from '../support/nightly.ts';
import { Deliveries, type Order } from './support/delivery/deliveries.ts';
import { Deployment, hold } from './support/delivery/deployment.ts';
import { eventually } from './support/waiting.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const unkeyed = (): undefined => undefined;

const ORDERS = {
  'newest first': (pending) => pending.pop(),
  'middle one first': (pending) => pending.splice(Math.floor(pending.length / 2), 1)[0],
} satisfies Readonly<Record<string, Order>>;
type OrderName = keyof typeof ORDERS;
const BOTH: readonly OrderName[] = ['newest first', 'middle one first'];

for (const [name, hasBroker, ordersByDay] of [
  ['through Pub/Sub', true, ['newest first']],
  ['on a machine without Pub/Sub', false, ['middle one first']],
] as const)
  describe(`effects of to-do events ${name}`, function () {
    this.timeout(600_000);

    const fcm = new LocalFcm();
    let deployment: Deployment;
    let deliveries: Deliveries;
    let uid: string;

    before(async function () {
      if (hasBroker && !process.env['PUBSUB_EMULATOR_HOST']) this.skip();
      await fcm.start();
      deployment = await Deployment.create({ hasBroker, pushServiceUrl: fcm.url });
      deliveries = await Deliveries.of(deployment, hasBroker);
    });
    after(async () => {
      await deployment?.end();
      await fcm.stop();
    });

    /** Creates a person who has chosen to be notified of reminders through every channel. */
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

    /** Returns the documents in which the field `owner` contains the person's id, by document id. */
    async function documents(collection: string, owner: string) {
      const found = await deployment.firestore.collection(collection).where(owner, '==', uid).get();
      return new Map(found.docs.map((document) => [document.id, document.data()]));
    }

    async function children(list: string): Promise<readonly string[]> {
      const shown: unknown = (await getDatabase(deployment.app).ref(`${list}/${uid}`).get()).val();
      return Object.keys(Object(shown)).sort();
    }

    /** Gives the held reminder the latest due time, and fills up its batch with reminders of missing to-dos. */
    async function sendLast(held: string, others: readonly string[]): Promise<void> {
      const reminders = deployment.firestore.collection('reminders');
      const due = (await reminders.doc(others[0] ?? '').get()).data();
      const remindAt: Date = due?.['remind_at'].toDate();
      const batch = deployment.firestore.batch();
      for (let number = 0; number < SEND_BATCH - others.length; number++) {
        const id = `nothing-${held}-${number}`;
        batch.set(reminders.doc(id), { ...due, id, task_id: id });
      }
      batch.update(reminders.doc(held), { remind_at: new Date(remindAt.getTime() + 1000) });
      await batch.commit();
    }

    /** Starts a sender, and kills it when only the held reminder is unsent. Then two other senders continue. */
    async function sendThoughOneIsKilled(ids: readonly string[], held: string): Promise<void> {
      await sendLast(
        held,
        ids.filter((id) => id !== held),
      );
      const dying = await deployment.start('sendReminders');
      const others = [await deployment.start('sendReminders'), await deployment.start('sendReminders')];
      const free = await hold(deployment.firestore, `reminders/${held}`);
      const run = ({ url }: { url: string }) => fetch(url, { method: 'POST' });
      const death = Promise.allSettled([run(dying)]);
      await eventually('all reminders are sent except the held one', async () => {
        const sent = await deployment.firestore.getAll(...ids.map((id) => deployment.firestore.doc(`reminders/${id}`)));
        return sent.every((reminder) => reminder.get('sent') === (reminder.id !== held)) || undefined;
      });
      await dying.kill();
      await death;
      await free();
      for (const answer of await Promise.all(others.map(run))) assert.equal(answer.status, 200);
    }

    for (const order of defaultOrNightly<readonly OrderName[]>(ordersByDay, { night: BOTH }))
      it(`exist exactly once if every event is delivered twice, ${order}`, async () => {
        const due = inMinutes(30);
        const [recurring, ...others] = await addTodos(due);
        await sendThoughOneIsKilled([recurring, ...others], recurring);
        await deliveries.collect();
        await deployment.firestore.doc(`todos/${recurring}`).update({ completed: true });
        await deployment.firestore.doc(`todos/${others[0]}`).update({ title: 'Uno' });
        await deliveries.deliverTwice(ORDERS[order]);

        const once = await effects();
        const next = onlyOther(once.todos, [recurring, ...others]);
        assert.equal(once.todos.get(next)?.['due_date'].toDate().getTime(), due.getTime() + DAY_MS);
        const happened = [...once.events.values()].map((event) => `${event['event_type']} ${event['task_id']}`);
        const expected = [recurring, ...others].flatMap((id) => [`created ${id}`, `reminder ${id}`]);
        expected.push(`completed ${recurring}`, `updated ${others[0]}`, `created ${next}`);
        assert.deepEqual(happened.sort(), expected.sort());
        assertTold(once);
        assert.deepEqual([...once.reminders.keys()].sort(), [...others, next].sort());

        deployment.moveTime(DAY_MS / 2);
        await deliveries.repeat();
        assert.deepEqual(await effects(), once);
      });

    /** Adds a recurring to-do and three other to-dos, whose reminders are due at the same time. Returns their ids. */
    async function addTodos(due: Date): Promise<[string, ...string[]]> {
      const { todos, recurringTasks } = deployment.services;
      const draft = { title: 'Water the plants', frequency: 'DAILY', start_date: due };
      const { first } = await recurringTasks.create(uid, draft, unkeyed);
      const others: string[] = [];
      for (const title of ['One', 'Two', 'Three'])
        others.push((await todos.add(uid, { title, due_date: due }, unkeyed)).id);
      return [first.id, ...others];
    }

    /** Asserts that each event has one receipt. Each channel has all reminders; the mirror has all other events. */
    function assertTold(seen: Awaited<ReturnType<typeof effects>>): void {
      const [reminders, changes] = [true, false].map((isReminder) =>
        [...seen.events]
          .filter(([, event]) => (event['event_type'] === 'reminder') === isReminder)
          .map(([id]) => id)
          .sort(),
      );
      assert.deepEqual([...seen.audit.keys()].sort(), [...seen.events.keys()].sort());
      assert.deepEqual(seen.updates, changes);
      assert.deepEqual(seen.notifications, reminders);
      assert.deepEqual([...seen.mail.keys()].sort(), reminders);
      assert.deepEqual(seen.pushed, reminders);
    }

    /** Returns all data of the person that was stored or sent. */
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

/** Returns the only id in `found` that is not in `known`. */
function onlyOther(found: ReadonlyMap<string, unknown>, known: readonly string[]): string {
  const [other, ...more] = [...found.keys()].filter((id) => !known.includes(id));
  assert.ok(other);
  assert.deepEqual(more, []);
  return other;
}
