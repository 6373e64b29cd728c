/** To-dos edited with Firebase's client SDK, without tools. The trigger `repairTodo` adds reminders and events. */
import assert from 'node:assert/strict';
import { Timestamp } from 'firebase/firestore/lite';
import { z } from 'zod';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { eventReceiptPath, todoPath } from '../../functions/src/kernel/firestore/paths.ts';
import { succeed } from './support/calls.ts';
import { documentEvent } from './support/delivery/cloudEvents.ts';
import { deliverToTrigger, PROJECT } from './support/emulator.ts';
import { newPerson, type Person } from './support/person.ts';
import { eventually } from './support/waiting.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROUNDS = 4;
const withId = z.looseObject({ id: z.string() });

const event = z.object({
  event_id: z.string(),
  event_type: z.string(),
  task_id: z.string(),
  timestamp: z.unknown(),
  event_data: z.object({
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    changes: z.array(z.string()),
  }),
});

describe('the trigger repairTodo', () => {
  let person: Person;

  beforeEach(async () => {
    person = await newPerson();
  });
  afterEach(() => person?.leave());

  const at = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

  async function begin(start: string): Promise<string> {
    const args = { title: 'Standup', frequency: 'DAILY', start_date: start };
    return withId.parse((await succeed(person.tools, 'create_recurring_task', args))['first_occurrence']).id;
  }

  async function add(args: Readonly<Record<string, unknown>>): Promise<string> {
    return withId.parse((await succeed(person.tools, 'add_task', args))['task']).id;
  }

  const todos = () => person.own('todos', 'owner_uid');

  /** Waits until the person has open to-dos besides the given one, and returns them. */
  function following(id: string) {
    return eventually('the next occurrence exists', async () => {
      const open = (await todos()).filter((todo) => !todo['completed'] && todo['id'] !== id);
      return open.length > 0 ? open : undefined;
    });
  }

  async function events() {
    return (await person.own('events', 'user_id')).map((one) => event.parse(one));
  }

  function happened(type: string, taskId: string) {
    return eventually(`the event "${type}" of ${taskId} exists`, async () => {
      const found = await events();
      return found.find((one) => one.event_type === type && one.task_id === taskId);
    });
  }

  /** Calls the trigger for the to-do three times concurrently, and waits for all calls. */
  async function repairAgain(id: string): Promise<void> {
    const repeated = documentEvent(PROJECT, 'written', `todos/${id}`, {});
    await Promise.all([1, 2, 3].map(() => deliverToTrigger('repairTodo', repeated)));
  }

  async function assertAudited(ids: readonly string[]): Promise<void> {
    for (const id of ids)
      await eventually(
        `the receipt of the event ${id} exists`,
        async () => (await firestore().doc(eventReceiptPath(id)).get()).exists || undefined,
      );
  }

  it('adds the next occurrence, with reminder and events, if a recurring to-do is completed', async () => {
    const start = at(2 * DAY_MS);
    const first = await begin(start);
    await person.edit(todoPath(first), { completed: true });
    const [next] = await following(first);
    assert.ok(next);
    await repairAgain(first);
    const all = await todos();
    assert.deepEqual(all.map(({ id }) => id).sort(), [first, next['id']].sort());
    const due = Date.parse(start) + DAY_MS;
    assert.equal(next['due_date'].toMillis(), due);
    const done = all.find(({ id }) => id === first);
    assert.ok(done?.['completed_at'] instanceof Timestamp);
    const reminders = await person.own('reminders', 'owner_uid');
    const rows = reminders.map((reminder) => [reminder['task_id'], reminder['remind_at'].toMillis(), reminder['sent']]);
    assert.deepEqual(rows, [[next['id'], due - HOUR_MS, false]]);
    const reported = await events();
    const found = reported.map(({ event_type, task_id }) => `${event_type} ${task_id}`).sort();
    assert.deepEqual(found, [`created ${first}`, `completed ${first}`, `created ${next['id']}`].sort());
    const completed = await happened('completed', first);
    assert.deepEqual(completed.event_data.changes, ['completed', 'completed_at']);
    await assertAudited(reported.map(({ event_id }) => event_id));
  });

  it('adds one next occurrence if the owner and a tool complete a recurring to-do concurrently', async () => {
    const start = at(2 * DAY_MS);
    const ids = [await begin(start)];
    for (let round = 0; round < ROUNDS; round++) {
      const id = String(ids.at(-1));
      const ways = [
        () => person.edit(todoPath(id), { completed: true }),
        () => person.tools.call('complete_task', { task_id: id }),
        () => repairAgain(id),
      ];
      // Each round starts the calls in another order, because the call that starts first is more likely to win.
      const order = [...ways.slice(round % ways.length), ...ways.slice(0, round % ways.length)];
      await Promise.all(order.map((way) => way()));
      const [next, ...more] = await following(id);
      await repairAgain(id);
      assert.deepEqual(more, []);
      ids.push(String(next?.['id']));
    }
    const all = await todos();
    assert.deepEqual(all.map(({ id }) => id).sort(), [...ids].sort());
    const [open, ...more] = all.filter(({ completed }) => !completed);
    assert.deepEqual(more, []);
    assert.equal(open?.['due_date'].toMillis(), Date.parse(start) + ROUNDS * DAY_MS);
    const reported = await events();
    const found = reported.map(({ event_type, task_id }) => `${event_type} ${task_id}`).sort();
    const expected = [...ids.map((id) => `created ${id}`), ...ids.slice(0, ROUNDS).map((id) => `completed ${id}`)];
    assert.deepEqual(found, expected.sort());
    const reminders = await person.own('reminders', 'owner_uid');
    const taskIds = reminders.map(({ task_id }) => task_id);
    assert.deepEqual(taskIds, [open?.['id']]);
    await assertAudited(reported.map(({ event_id }) => event_id));
  });

  it('updates the reminder and search index, and adds an event, if title and due date change', async () => {
    const [due, later] = [at(2 * DAY_MS), at(5 * DAY_MS)];
    const id = await add({ title: 'Water the plants', due_date: due });
    const dueDate = Timestamp.fromDate(new Date(later));
    await person.edit(todoPath(id), { title: ' Water the roses ', due_date: dueDate });
    const { event_data, ...updated } = await happened('updated', id);
    await repairAgain(id);
    assert.deepEqual(event_data.changes, ['title', 'due_date']);
    assert.deepEqual([event_data.before?.['title'], event_data.before?.['due_date']], ['Water the plants', due]);
    assert.deepEqual([event_data.after?.['title'], event_data.after?.['due_date']], ['Water the roses', later]);
    const [reminder] = await person.own('reminders', 'owner_uid');
    assert.equal(reminder?.['task_title'], 'Water the roses');
    assert.equal(reminder?.['remind_at'].toMillis(), Date.parse(later) - HOUR_MS);
    assert.equal((await succeed(person.tools, 'search_tasks', { query: 'roses' }))['total'], 1);
    assert.equal((await succeed(person.tools, 'search_tasks', { query: 'plants' }))['total'], 0);
    const again = await person.tools.call('add_task', { title: 'water the ROSES', due_date: later });
    assert.match(again.text, /DUPLICATE_TASK/);
    await add({ title: 'Water the plants', due_date: due });
    const reported = (await events()).filter(({ task_id }) => task_id === id);
    assert.deepEqual(reported.map(({ event_type }) => event_type).sort(), ['created', 'updated']);
    await assertAudited([updated.event_id]);
  });

  it('adds no event if the edited text equals the previous text after normalization', async () => {
    const id = await add({ title: 'Water the plants', tags: ['garden'] });
    await person.edit(todoPath(id), { title: '  Water the plants', tags: ['garden', 'Garden'] });
    await eventually('title and tags are normalized', async () => {
      const todo = await person.read(todoPath(id));
      return (todo?.['title'] === 'Water the plants' && todo['tags'].length === 1) || undefined;
    });
    await repairAgain(id);
    const types = (await events()).map(({ event_type }) => event_type);
    assert.deepEqual(types, ['created']);
  });

  it('adds the next occurrence if a recurring to-do is deleted in the Firebase console', async () => {
    const start = at(2 * DAY_MS);
    const first = await begin(start);
    await firestore().doc(todoPath(first)).delete();
    const [next, ...more] = await following(first);
    assert.deepEqual(more, []);
    assert.equal(next?.['due_date'].toMillis(), Date.parse(start) + DAY_MS);
    const deleted = await happened('deleted', first);
    assert.match(deleted.event_id, new RegExp(`^withdrawn-${first}-\\d+$`));
    await repairAgain(first);
    const reported = (await events()).map(({ event_type, task_id }) => `${event_type} ${task_id}`);
    assert.deepEqual(reported.sort(), [`created ${first}`, `deleted ${first}`, `created ${next?.['id']}`].sort());
    const reminders = await person.own('reminders', 'owner_uid');
    const taskIds = reminders.map(({ task_id }) => task_id);
    assert.deepEqual(taskIds, [next?.['id']]);
  });
});
