/** No event is lost during an outage of Pub/Sub, and each dead letter is logged as an error. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { TOPICS } from '../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { Subscription } from '../integration/spine/pubsub.ts';
import { deliver, documentEvent, messageEvent } from './support/delivery/cloudEvents.ts';
import { Deployment } from './support/delivery/deployment.ts';
import { eventually } from './support/waiting.ts';

describe('functions for to-do events', () => {
  let deployment: Deployment;

  before(async function () {
    if (!process.env['PUBSUB_EMULATOR_HOST']) this.skip();
    deployment = await Deployment.create({ hasBroker: true, pushServiceUrl: '' });
  });
  after(() => deployment?.end());

  it('relayEvent fails while the Pub/Sub topics are missing, and a retry publishes the events', async () => {
    const { project, firestore, services } = deployment;
    const owner = `person-${randomUUID()}`;
    const { id } = await services.todos.add(owner, { title: 'Water the plants' }, () => undefined);
    await services.todos.complete(owner, id, () => undefined);
    const outbox = await firestore.collection('events').where('task_id', '==', id).get();
    const relay = await deployment.urlOf('relayEvent');
    const triggers = outbox.docs.map((event) => documentEvent(project, 'created', `events/${event.id}`, {}));
    assert.equal(triggers.length, 2);
    for (const trigger of triggers) assert.equal(await deliver(relay, trigger), false);

    const topics = [TOPICS.taskEvents, TOPICS.taskUpdates];
    const subscriptions = await Promise.all(topics.map((topic) => Subscription.to(topic, project)));
    for (const trigger of triggers)
      await eventually('the trigger is taken', async () => (await deliver(relay, trigger)) || undefined);
    for (const subscription of subscriptions)
      for (const event of outbox.docs)
        await subscription.until(1, ({ attributes }) => attributes['event_id'] === event.id);
  });

  it('logDeadLetters logs a dead letter as an error, with its unchanged text and attributes', async () => {
    const logger = await deployment.start('logDeadLetters');
    const letter = { id: randomUUID(), text: 'no event', attributes: { consumer: 'audit' } };
    assert.ok(await deliver(logger.url, messageEvent(deployment.project, 'dead-letters', letter)));
    const line = await eventually('the dead letter is logged', async () =>
      readFileSync(logger.log, 'utf8')
        .split('\n')
        .find((one) => one.includes(letter.id)),
    );
    const { severity, message, text, attributes } = JSON.parse(line);
    assert.match(message, /dead_letter/);
    assert.deepEqual(
      { severity, text, attributes },
      { severity: 'ERROR', text: 'no event', attributes: { consumer: 'audit' } },
    );
  });
});
