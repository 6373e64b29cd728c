import assert from 'node:assert/strict';
import { eventMessage, eventOf, messageOf, topicsOf } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { forAll, inRuns } from '../../support/properties.ts';
import { taskEvents } from '../stored/arbitraries.ts';

describe('message about a to-do event', () => {
  it('contains the event without changes', () =>
    forAll(taskEvents, (event) => {
      const received: unknown = JSON.parse(JSON.stringify(messageOf(event)));
      assert.deepEqual(eventOf(eventMessage.parse(received)), event);
    }));

  it('has the structure that the specification defines', () => {
    const timestamp = new Date('2026-02-10T12:00:00Z');
    const changed = { before: { title: 'a' }, after: { title: 'b' }, changes: ['title'] };
    const event = { id: 'e', type: 'updated', taskId: 't', userId: 'u', timestamp, ...changed } as const;
    assert.deepEqual(messageOf(event), {
      event_id: 'e',
      schema_version: 1,
      event_type: 'updated',
      task_id: 't',
      user_id: 'u',
      timestamp: '2026-02-10T12:00:00.000Z',
      event_data: changed,
    });
  });

  it('is sent to the topic task-events, and to task-updates or reminders depending on its type', () => {
    for (const type of ['created', 'updated', 'completed', 'deleted'] as const)
      assert.deepEqual(topicsOf({ type }), ['task-events', 'task-updates']);
    assert.deepEqual(topicsOf({ type: 'reminder' }), ['task-events', 'reminders']);
  });

  it('is rejected if a field is missing or the schema version is unknown', () =>
    inRuns(20).forAll(taskEvents, (event) => {
      const message = messageOf(event);
      for (const field of Object.keys(message))
        assert.equal(eventMessage.safeParse({ ...message, [field]: undefined }).success, false, field);
      assert.equal(eventMessage.safeParse({ ...message, schema_version: 2 }).success, false);
    }));
});
