/** The relay and the consumers: what they do where something fails, or can never succeed. */
import assert from 'node:assert/strict';
import { eventConsumer, relayEvent } from '../../../functions/src/toolsets/todo/rules/outbox.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import type { DeadLetter } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import {
  messageOf,
  type TaskEvent,
  type Topic,
} from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { START } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

const EVENT: TaskEvent = {
  id: 'event-1',
  type: 'updated',
  taskId: 'todo-1',
  userId: 'owner-1',
  timestamp: START,
  before: { title: 'Old' },
  after: { title: 'New' },
  changes: ['title'],
};

/** Keeps the names of what was logged as an error. */
function errorsOf() {
  const errors: string[] = [];
  return { errors, log: { info() {}, warn() {}, error: (message: string) => void errors.push(message) } };
}

describe('the relay', () => {
  const published: Topic[] = [];
  let broken: Topic | undefined;
  const publisher = {
    async publish(topic: Topic): Promise<void> {
      if (topic === broken) throw new Error(`${topic} is out of reach`);
      published.push(topic);
    },
  };

  function relay(event: TaskEvent | undefined, id = EVENT.id) {
    const { errors, log } = errorsOf();
    const ports = portsOf<TodoPorts>({ taskHistory: { find: async () => event }, log });
    const relaying = relayEvent(ports, publisher, id);
    return { errors, relaying };
  }

  beforeEach(() => {
    published.splice(0);
    broken = undefined;
  });

  it('publishes what is in the outbox to each of its topics', async () => {
    await relay(EVENT).relaying;
    assert.deepEqual(published, ['task-events', 'task-updates']);
    published.splice(0);
    await relay({ ...EVENT, type: 'reminder' }).relaying;
    assert.deepEqual(published, ['task-events', 'reminders']);
  });

  it('fails where one topic is out of reach, so that the trigger comes again', async () => {
    broken = 'task-updates';
    await assert.rejects(relay(EVENT).relaying, /task-updates is out of reach/);
    assert.deepEqual(published, ['task-events']);
  });

  it('does not come again for an event that is not there, and says so', async () => {
    const { errors, relaying } = relay(undefined);
    await relaying;
    assert.deepEqual([published, errors], [[], ['event_missing']]);
  });
});

describe('a consumer', () => {
  function consume(text: string, act: (event: TaskEvent) => Promise<void>) {
    const buried: DeadLetter[] = [];
    const { errors, log } = errorsOf();
    const deadLetters = { bury: async (letter: DeadLetter) => void buried.push(letter) };
    const consuming = eventConsumer('test', act, portsOf<TodoPorts>({ deadLetters, log })).receive({
      id: 'message-1',
      text,
    });
    return { buried, errors, consuming };
  }

  it('takes the event as it was sent', async () => {
    const taken: TaskEvent[] = [];
    const { buried, consuming } = consume(
      JSON.stringify(messageOf(EVENT)),
      async (event) => void taken.push(event),
    );
    await consuming;
    assert.deepEqual([taken, buried], [[EVENT], []]);
  });

  it('fails where it may succeed later, so that the message comes again', async () => {
    const { buried, consuming } = consume(JSON.stringify(messageOf(EVENT)), () =>
      Promise.reject(new Error('out of reach')),
    );
    await assert.rejects(consuming, /out of reach/);
    assert.deepEqual(buried, []);
  });

  for (const text of [
    '',
    'no JSON',
    'null',
    '[]',
    JSON.stringify({ ...messageOf(EVENT), schema_version: 2 }),
  ]) {
    it(`buries what it can never read, as it came: ${text.slice(0, 20)}`, async () => {
      const { buried, errors, consuming } = consume(text, () =>
        Promise.reject(new Error('not to be called')),
      );
      await consuming;
      const [letter, ...more] = buried;
      assert.deepEqual([letter?.consumer, letter?.messageId, letter?.text], ['test', 'message-1', text]);
      assert.notEqual(letter?.reason, '');
      assert.deepEqual([more, errors], [[], ['message_buried']]);
    });
  }
});
