import assert from 'node:assert/strict';
import { messageOf, type TaskEvent } from '../../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { pubSubMessage } from '../../../../functions/src/vendors/pubsub/publisher.ts';
import { forAll } from '../../../support/properties.ts';
import { taskEvents } from '../../stored/arbitraries.ts';

/** Attributes that every CloudEvent requires. Source: https://github.com/cloudevents/spec, version 1.0.2. */
const REQUIRED = ['ce-specversion', 'ce-id', 'ce-type', 'ce-source'];

describe('Pub/Sub message about a to-do event', () => {
  it('is a CloudEvent in binary content mode', () => {
    const timestamp = new Date('2026-02-10T12:00:00Z');
    const changed = { before: null, after: { title: 'b' }, changes: ['title'] };
    const event: TaskEvent = { id: 'e', type: 'created', taskId: 't', userId: 'u', timestamp, ...changed };
    assert.deepEqual(pubSubMessage(event, 'my-project').attributes, {
      'ce-specversion': '1.0',
      'ce-id': 'e',
      'ce-type': 'muster.task.created',
      'ce-source': '//firestore.googleapis.com/projects/my-project/databases/(default)/documents/events',
      'ce-subject': 't',
      'ce-time': '2026-02-10T12:00:00.000Z',
      'content-type': 'application/json',
      event_id: 'e',
      event_type: 'created',
    });
  });

  it('has the required attributes and the to-do id as ordering key, and is equal if repeated', () =>
    forAll(taskEvents, (event) => {
      const message = pubSubMessage(event, 'my-project');
      for (const attribute of REQUIRED) assert.ok(message.attributes[attribute], attribute);
      assert.equal(message.orderingKey, event.taskId);
      assert.deepEqual(JSON.parse(message.data.toString()), JSON.parse(JSON.stringify(messageOf(event))));
      assert.deepEqual(pubSubMessage(event, 'my-project'), message);
    }));
});
