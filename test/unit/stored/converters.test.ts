/** Every Firestore converter returns the same value after the value was written and read. */
import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import fc from 'fast-check';
import { agentFromDocument } from '../../../functions/src/agents/rules/agent.ts';
import { agentToDocument } from '../../../functions/src/agents/store/agents.ts';
import { credentialFromDocument } from '../../../functions/src/identity/rules/credential.ts';
import { credentialToDocument } from '../../../functions/src/identity/store/credentials.ts';
import {
  recordedResponseFromDocument,
  recordedResponseToDocument,
} from '../../../functions/src/kernel/firestore/store.ts';
import {
  discoveryFromDocument,
  discoveryToDocument,
  sessionFromDocument,
  sessionToDocument,
} from '../../../functions/src/toolsets/coordination/rules/session.ts';
import {
  capabilityKey,
  taskFromDocument,
  taskToDocument,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { linkFromDocument, linkToDocument } from '../../../functions/src/toolsets/github/rules/link.ts';
import { recurringTaskFromDocument } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import {
  reminderFromDocument,
  reminderToDocument,
} from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { todoFromDocument, todoResponse } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { eventFromDocument, eventToDocument } from '../../../functions/src/toolsets/todo/store/events.ts';
import { recurringTaskToDocument } from '../../../functions/src/toolsets/todo/store/reminders.ts';
import {
  isIndexCurrent,
  lastReportedOf,
  todoFromRecord,
  todoToDocument,
} from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { forAll, inRuns } from '../../support/properties.ts';
import {
  agents,
  credentials,
  discoveries,
  links,
  reminders,
  sessions,
  settledOperations,
  taskEvents,
  tasks,
} from './arbitraries.ts';
import { recurringTasks, todos } from './todoArbitraries.ts';

/** Returns the value as Firestore would return it: with timestamps instead of dates. Fails for unsupported types. */
function stored(value: unknown): unknown {
  if (value instanceof Date) return Timestamp.fromDate(value);
  if (Array.isArray(value)) {
    for (const item of value) assert.ok(!Array.isArray(item), 'Firestore cannot store nested arrays');
    return value.map(stored);
  }
  if (typeof value !== 'object' || value === null) {
    assert.notEqual(value, undefined, 'Firestore cannot store undefined');
    return value;
  }
  const fields = Object.entries(value).map(([name, field]) => {
    assert.ok(!/^__.*__$|^$/.test(name), `Firestore cannot store a field "${name}"`);
    return [name, stored(field)] as const;
  });
  return Object.fromEntries(fields);
}

function comesBack<Value>(
  name: string,
  values: fc.Arbitrary<Value>,
  toDocument: (value: Value) => object,
  fromDocument: (data: unknown, value: Value) => Value,
): void {
  it(`(${name}) are unchanged after they were written and read`, () =>
    inRuns(300).forAll(values, (value) => assert.deepEqual(fromDocument(stored(toDocument(value)), value), value)));
}

function must<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined);
  return value;
}

describe('stored documents', () => {
  comesBack('tasks', tasks, taskToDocument, taskFromDocument);
  comesBack('agents', agents, agentToDocument, agentFromDocument);
  comesBack('credentials', credentials, credentialToDocument, credentialFromDocument);
  comesBack('links of pull requests', links, linkToDocument, linkFromDocument);
  comesBack('sessions', sessions, sessionToDocument, sessionFromDocument);
  comesBack('discoveries', discoveries, discoveryToDocument, discoveryFromDocument);
  comesBack('events', taskEvents, eventToDocument, eventFromDocument);
  comesBack('reminders', reminders, reminderToDocument, reminderFromDocument);
  comesBack('to-dos', todos, todoToDocument, todoFromDocument);
  comesBack('to-dos that are gone', todos, todoToDocument, (data) => must(todoFromRecord(data)));
  comesBack('recurring tasks', recurringTasks, recurringTaskToDocument, recurringTaskFromDocument);
  comesBack('settled operations', settledOperations, recordedResponseToDocument, (data, { id }) =>
    recordedResponseFromDocument(id, data),
  );

  it('have the same fields for every task and agent, so that an update leaves no old fields', () => {
    forAll(tasks, tasks, (one, other) => {
      assert.deepEqual(Object.keys(taskToDocument(one)), Object.keys(taskToDocument(other)));
    });
    forAll(agents, agents, (one, other) => {
      assert.deepEqual(Object.keys(agentToDocument(one)), Object.keys(agentToDocument(other)));
    });
  });

  it('show whether the index fields of a to-do are current', () =>
    forAll(todos, todos, (todo, other) => {
      const data = stored(todoToDocument(todo));
      assert.equal(isIndexCurrent(todo, data), true);
      assert.deepEqual(lastReportedOf(data).lastReported, todoResponse(todo));
      const edited = { ...todo, title: `${todo.title} edited ${other.id}` };
      assert.equal(isIndexCurrent(edited, data), false);
    }));

  it('of tasks contain the key by which a claim finds them', () =>
    forAll(tasks, (task) => {
      assert.equal(taskToDocument(task).capability_key, capabilityKey(task.required_capabilities));
    }));

  it('are rejected if the converter has not written them', () => {
    const [task] = fc.sample(tasks, 1);
    assert.ok(task);
    const document = stored(taskToDocument(task));
    assert.ok(typeof document === 'object');
    for (const broken of [undefined, {}, { ...document, status: 'lost' }, { ...document, created_at: '2030' }])
      assert.throws(() => taskFromDocument(broken));
  });
});
