/** Event consumers have the same result even if deliveries are repeated or out of order. */
import assert from 'node:assert/strict';
import { compose } from '../../../functions/src/composition/compose.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { TOPICS } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { Person } from './person.ts';

describe('event consumers', () => {
  let person: Person;

  beforeEach(() => {
    person = new Person();
  });

  describe('event receipts', () => {
    it('are stored once per event, with the content of the first delivery', async () => {
      const event = person.event('updated');
      await person.deliver(TOPICS.taskEvents, event);
      const first = await person.audit(event.id);
      assert.equal(first?.['task_id'], event.taskId);
      assert.match(String(first?.['digest']), /^[0-9a-f]{64}$/);
      person.pass(86_400);
      await Promise.all([person.deliver(TOPICS.taskEvents, event), person.deliver(TOPICS.taskEvents, event)]);
      assert.deepEqual(await person.audit(event.id), first);
    });

    it('contain a digest that differs for two events with different content', async () => {
      const event = person.event('updated');
      const forged = { ...event, id: `${event.id}-2`, changes: [] };
      await person.deliver(TOPICS.taskEvents, event);
      await person.deliver(TOPICS.taskEvents, forged);
      const [one, other] = await Promise.all([person.audit(event.id), person.audit(forged.id)]);
      assert.notEqual(one?.['digest'], other?.['digest']);
    });
  });

  describe('task updates', () => {
    const events = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        person.event('updated', { id: `event-${index}`, timestamp: person.after(index) }),
      );

    it('contain each event once, in the order of the events', async () => {
      const [first, second, third] = events(3);
      assert.ok(first && second && third);
      for (const event of [third, first, third, second, first]) await person.deliver(TOPICS.taskUpdates, event);
      assert.deepEqual(await person.list('task-updates'), ['event-0', 'event-1', 'event-2']);
    });

    it('contain the latest 50 events, even if older ones arrive late', async () => {
      const all = events(60);
      await Promise.all(
        all
          .slice(5)
          .toReversed()
          .map((event) => person.deliver(TOPICS.taskUpdates, event)),
      );
      for (const late of all.slice(0, 5)) await person.deliver(TOPICS.taskUpdates, late);
      const kept = all.slice(-50).map(({ id }) => id);
      assert.deepEqual(await person.list('task-updates'), kept);
    });
  });

  it('receive events directly if no Pub/Sub broker is available', async () => {
    const { services, kernel } = compose({ ...externalServicesOf(), publisher: undefined });
    const event = person.event('updated');
    await kernel.store.commit([{ kind: 'recordEvent', event }]);
    await services.relayEvent(event.id);
    await services.relayEvent(event.id);
    assert.ok(await person.audit(event.id));
    assert.deepEqual(await person.list('task-updates'), [event.id]);
  });

  it('contain only the first of two events with equal ids, because the outbox rejects the second', async () => {
    const event = person.event('updated');
    const { store } = person.app.kernel;
    await store.commit([{ kind: 'recordEvent', event }]);
    await assert.rejects(store.commit([{ kind: 'recordEvent', event: { ...event, changes: [] } }]), {
      name: 'StaleWriteError',
    });
    const stored = await person.storedEvent(event.id);
    assert.deepEqual(Object(stored).event_data.changes, ['title']);
  });

  it('receive every event exactly as it is in the outbox', async () => {
    const event = person.event('deleted', { after: null, before: { tags: ['a'], due_date: null } });
    await person.app.kernel.store.commit([{ kind: 'recordEvent', event }]);
    assert.deepEqual(await person.app.todo.ports.taskHistory.find(event.id), event);
    assert.equal((await firestore().doc('events/never-there').get()).exists, false);
    assert.equal(await person.app.todo.ports.taskHistory.find('never-there'), undefined);
  });
});
