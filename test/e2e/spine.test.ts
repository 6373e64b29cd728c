/** Events and reminders pass through the real functions: the outbox, Pub/Sub, the consumers and the schedule. */
import assert from 'node:assert/strict';
import { TOPICS } from '../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { Person } from '../integration/spine/person.ts';
import { publish, Subscription } from '../integration/spine/pubsub.ts';
import { tick } from './support/emulator.ts';
import { eventually } from './support/waiting.ts';

describe('the functions for to-do events', () => {
  let person: Person;

  beforeEach(() => {
    person = new Person();
    person.now = new Date();
  });

  /** Waits until the named list of the person in the Realtime Database contains exactly these ids. */
  async function shows(list: 'task-updates' | 'notifications', ...ids: readonly string[]): Promise<void> {
    await eventually(`${list} shows ${ids}`, async () => {
      return JSON.stringify(await person.list(list)) === JSON.stringify(ids) || undefined;
    });
  }

  it('deliver each committed event to the event receipts, and to the clients of the person', async () => {
    const events = ['first', 'second', 'third'].map((word, index) =>
      person.event('updated', { id: `${word}-${person.uid}`, timestamp: person.after(index) }),
    );
    const { store } = person.app.kernel;
    await Promise.all(events.map((event) => store.commit([{ kind: 'recordEvent', event }])));
    await shows('task-updates', ...events.map(({ id }) => id));
    for (const { id } of events) await eventually(`the receipt of the event ${id} exists`, () => person.audit(id));
  });

  it('send a due reminder only once if sendReminders runs twice concurrently', async () => {
    const id = await person.remind(person.now);
    await Promise.all([tick('sendReminders'), tick('sendReminders')]);
    const [sending, ...more] = await person.sentReminders(id);
    assert.ok(sending);
    assert.deepEqual(more, []);
    await shows('notifications', sending);
    await eventually("the receipt of the reminder's event exists", () => person.audit(sending));
  });

  it("publish an unreadable message as a dead letter with the consumer's name and the reason", async function () {
    if (!process.env['PUBSUB_EMULATOR_HOST']) this.skip();
    const letters = await Subscription.to('dead-letters');
    for (const [topic, consumer] of [
      [TOPICS.taskEvents, 'audit'],
      [TOPICS.taskUpdates, 'mirror'],
      [TOPICS.reminders, 'notifier'],
    ] as const) {
      const text = `{"no":"event","of":"${person.uid}","at":"${topic}"}`;
      await publish(topic, text);
      const [letter] = await letters.until(1, (message) => message.text === text);
      assert.equal(letter?.attributes['consumer'], consumer);
      assert.match(String(letter?.attributes['reason']), /event_id/);
    }
  });
});
