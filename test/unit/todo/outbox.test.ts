import assert from 'node:assert/strict';
import { eventConsumer, relayEvent } from '../../../functions/src/toolsets/todo/rules/outbox.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import type { DeadLetter } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { messageOf, type TaskEvent, type Topic } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
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

/** Returns a log that collects the names of the errors. */
function errorsOf() {
  const errors: string[] = [];
  return { errors, log: { info() {}, warn() {}, error: (message: string) => void errors.push(message) } };
}

describe('relay that publishes to-do events', () => {
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

  it('publishes an event to each topic to which the event belongs', async () => {
    await relay(EVENT).relaying;
    assert.deepEqual(published, ['task-events', 'task-updates']);
    published.splice(0);
    await relay({ ...EVENT, type: 'reminder' }).relaying;
    assert.deepEqual(published, ['task-events', 'reminders']);
  });

  it('fails if a topic is unreachable, so that the trigger retries', async () => {
    broken = 'task-updates';
    await assert.rejects(relay(EVENT).relaying, /task-updates is out of reach/);
    assert.deepEqual(published, ['task-events']);
  });

  it('does not retry if the event does not exist, but logs the missing event', async () => {
    const { errors, relaying } = relay(undefined);
    await relaying;
    assert.deepEqual([published, errors], [[], ['event_missing']]);
  });
});

describe('consumer of to-do events', () => {
  function consume(text: string, act: (event: TaskEvent) => Promise<void>) {
    const buried: DeadLetter[] = [];
    const { errors, log } = errorsOf();
    const deadLetters = { deadLetter: async (letter: DeadLetter) => void buried.push(letter) };
    const consuming = eventConsumer('test', act, portsOf<TodoPorts>({ deadLetters, log })).receive({
      id: 'message-1',
      text,
    });
    return { buried, errors, consuming };
  }

  it('receives the event that was published, unchanged', async () => {
    const taken: TaskEvent[] = [];
    const { buried, consuming } = consume(JSON.stringify(messageOf(EVENT)), async (event) => void taken.push(event));
    await consuming;
    assert.deepEqual([taken, buried], [[EVENT], []]);
  });

  it('fails if an error may be temporary, so that the message is delivered again', async () => {
    const { buried, consuming } = consume(JSON.stringify(messageOf(EVENT)), () =>
      Promise.reject(new Error('out of reach')),
    );
    await assert.rejects(consuming, /out of reach/);
    assert.deepEqual(buried, []);
  });

  for (const text of ['', 'no JSON', 'null', '[]', JSON.stringify({ ...messageOf(EVENT), schema_version: 2 })])
    it(`stores an unreadable message unchanged as a dead letter: ${text.slice(0, 20)}`, async () => {
      const { buried, errors, consuming } = consume(text, () => Promise.reject(new Error('not to be called')));
      await consuming;
      const [letter, ...more] = buried;
      assert.deepEqual([letter?.consumer, letter?.messageId, letter?.text], ['test', 'message-1', text]);
      assert.notEqual(letter?.reason, '');
      assert.deepEqual([more, errors], [[], ['message_buried']]);
    });
});
