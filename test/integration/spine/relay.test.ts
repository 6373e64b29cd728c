/** The relay of events from the outbox to Pub/Sub: topics, attributes, order and dead letters. */
import assert from 'node:assert/strict';
import { eventConsumer } from '../../../functions/src/toolsets/todo/rules/outbox.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import { messageOf, TOPICS } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { PubSubPublisher } from '../../../functions/src/vendors/pubsub/publisher.ts';
import { portsOf } from '../../support/ports.ts';
import { silent } from '../coordination/team.ts';
import { Person } from './person.ts';
import { type Arrived, makeTopics, Subscription } from './pubsub.ts';

describe('the event relay', () => {
  let person: Person;

  before(async function () {
    if (!process.env['PUBSUB_EMULATOR_HOST']) this.skip();
    person = new Person();
    await makeTopics();
  });

  const of =
    (eventId: string) =>
    ({ attributes }: Arrived): boolean =>
      attributes['event_id'] === eventId;

  it('publishes an event in the specified format, with CloudEvents attributes', async () => {
    const subscription = await Subscription.to(TOPICS.taskEvents);
    const event = person.event('updated');
    await person.app.kernel.store.commit([{ kind: 'recordEvent', event }]);
    await person.app.services.relayEvent(event.id);
    const [message] = await subscription.until(1, of(event.id));
    assert.ok(message);
    assert.deepEqual(JSON.parse(message.text), messageOf(event));
    assert.equal(message.orderingKey, event.taskId);
    assert.deepEqual(message.attributes, {
      'ce-specversion': '1.0',
      'ce-id': event.id,
      'ce-type': 'muster.task.updated',
      'ce-source': `//firestore.googleapis.com/projects/${process.env['GCLOUD_PROJECT']}/databases/(default)/documents/events`,
      'ce-subject': event.taskId,
      'ce-time': event.timestamp.toISOString(),
      'content-type': 'application/json',
      event_id: event.id,
      event_type: 'updated',
    });
  });

  for (const [type, topic] of [
    ['created', TOPICS.taskUpdates],
    ['deleted', TOPICS.taskUpdates],
    ['reminder', TOPICS.reminders],
  ] as const)
    it(`publishes events of type ${type} to ${topic}`, async () => {
      const subscriptions = await Promise.all([TOPICS.taskEvents, topic].map((each) => Subscription.to(each)));
      const event = person.event(type);
      await person.app.kernel.store.commit([{ kind: 'recordEvent', event }]);
      await person.app.services.relayEvent(event.id);
      for (const subscription of subscriptions) await subscription.until(1, of(event.id));
    });

  it('publishes two messages with the same content if an event is relayed twice', async () => {
    const subscription = await Subscription.to(TOPICS.taskEvents);
    const event = person.event('completed');
    await person.app.kernel.store.commit([{ kind: 'recordEvent', event }]);
    await Promise.all([person.app.services.relayEvent(event.id), person.app.services.relayEvent(event.id)]);
    const both = await subscription.until(2, of(event.id));
    assert.equal(both[0]?.text, both[1]?.text);
  });

  for (const text of [
    'no JSON',
    '{}',
    JSON.stringify({ ...messageOf(new Person().event('updated')), schema_version: 2 }),
  ])
    it(`publishes a message that consumers cannot read as a dead letter: ${text.slice(0, 20)}`, async () => {
      const subscription = await Subscription.to('dead-letters');
      const id = `message-${Math.random()}`;
      let taken = 0;
      const consumer = eventConsumer(
        'test',
        async () => void taken++,
        portsOf<TodoPorts>({ deadLetters: new PubSubPublisher(), log: silent }),
      );
      await consumer.receive({ id, text });
      const [letter] = await subscription.until(1, ({ attributes }) => attributes['message_id'] === id);
      assert.equal(letter?.text, text);
      assert.equal(letter?.attributes['consumer'], 'test');
      assert.notEqual(letter?.attributes['reason'], '');
      assert.equal(taken, 0);
    });
});
