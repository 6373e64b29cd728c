import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, reminderPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const DAY = 86_400;

describe('to-do tools', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  const tool = (name: string, args: JsonObject = {}) => answer(team, `todo_${name}`, args);
  const inDays = (days: number) => new Date(team.now.getTime() + days * DAY * 1000).toISOString();

  async function added(args: JsonObject): Promise<string> {
    const { task } = await tool('add_task', args);
    return fieldOf(task, 'id');
  }

  async function refused(name: string, args: JsonObject, principal = team.leader): Promise<JsonObject> {
    const { structuredContent, isError } = await call(team, `todo_${name}`, args, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    assert.equal(structuredContent['success'], false);
    const { error } = structuredContent;
    assert.ok(isObject(error));
    return error;
  }

  async function titles(name: string, args: JsonObject = {}): Promise<readonly string[]> {
    const { tasks } = await tool(name, args);
    assert.ok(Array.isArray(tasks));
    return tasks.map((task) => fieldOf(task, 'title'));
  }

  async function open(): Promise<readonly JsonObject[]> {
    const { tasks } = await tool('list_tasks', { completed: false, limit: 100 });
    assert.ok(Array.isArray(tasks));
    return tasks.filter(isObject);
  }

  async function events(taskId: string): Promise<readonly JsonObject[]> {
    const { events: found } = await tool('get_task_history', { task_id: taskId });
    assert.ok(Array.isArray(found));
    return found.filter(isObject);
  }

  it('reject an update without fields, and report an update that changes nothing', async () => {
    const id = await added({ title: 'Once' });
    const again = { title: 'Again', frequency: 'WEEKLY', start_date: inDays(1), tags: ['a'], description: 'x' };
    const { recurring_task } = await tool('create_recurring_task', again);
    const recurring = { recurring_task_id: fieldOf(recurring_task, 'id') };
    for (const [name, args] of [
      ['update_task', { task_id: id }],
      ['update_task', { task_id: id, title: null, description: null, due_date: null, priority: null, tags: null }],
      ['update_recurring_task', recurring],
      ['update_recurring_task', { ...recurring, title: null, end_date: null, timezone: null }],
    ] as const) {
      const { code, details } = await refused(name, args);
      assert.deepEqual([code, fieldOf(details, 'reason')], ['VALIDATION_ERROR', 'NOTHING_TO_CHANGE'], name);
    }
    const same = { ...recurring, title: 'Again', tags: ['a'], frequency: 'WEEKLY' };
    const { message } = await tool('update_recurring_task', same);
    assert.match(String(message), /^Nothing was changed/);
    const changed = await tool('update_recurring_task', { ...same, tags: [] });
    assert.match(String(changed['message']), /^Recurring task updated/);
    assert.equal(fieldOf(changed['recurring_task'], 'description'), 'x');
  });

  it('read a due date or a repetition in words, and change nothing if they do not understand it', async () => {
    // The simulated clock shows 2040-01-01, a Sunday, at midnight in UTC.
    const once = await tool('add_task', { title: 'Call', when: 'tomorrow 9:30', timezone: 'Europe/Berlin' });
    assert.equal(fieldOf(once['task'], 'due_date'), '2040-01-02T08:30:00.000Z');
    const words = { when: 'every second Monday 9:00', timezone: 'America/New_York', priority: 'HIGH' };
    const again = await tool('add_task', { title: 'Water the office', ...words });
    assert.equal(fieldOf(again['task'], 'due_date'), '2040-01-02T14:00:00.000Z');
    assert.deepEqual(
      [Object(again['recurring_task']).interval, Object(again['recurring_task']).days, Object(again['task']).priority],
      [2, ['MO'], 'HIGH'],
    );
    const next = await tool('complete_task', { task_id: fieldOf(again['task'], 'id') });
    assert.equal(fieldOf(next['next_occurrence'], 'due_date'), '2040-01-16T14:00:00.000Z');
    for (const [args, field] of [
      [{ when: 'every banana' }, 'when'],
      [{ when: 'yesterday' }, 'when'],
      [{ when: 'tomorrow', due_date: inDays(1) }, 'when'],
      [{ when: 'tomorrow', timezone: 'Mars/Phobos' }, 'timezone'],
    ] as const)
      assert.equal(fieldOf((await refused('add_task', { title: 'No', ...args }))['details'], 'field'), field);
    assert.equal((await titles('list_tasks')).length, 3, 'both to-dos and the next occurrence');
  });

  it('set the reminder of each occurrence as the recurring to-do requires', async () => {
    const rule = { frequency: 'MONTHLY', days: ['-1'], start_date: '2040-01-05T10:00:00Z', reminder_lead_minutes: 90 };
    const { recurring_task, first_occurrence } = await tool('create_recurring_task', { title: 'Pay', ...rule });
    assert.equal(fieldOf(first_occurrence, 'due_date'), '2040-01-31T10:00:00.000Z');
    const remindAt = async (task: unknown) =>
      (
        await firestore()
          .doc(reminderPath(fieldOf(task, 'id')))
          .get()
      )
        .data()
        ?.['remind_at'].toDate()
        .toISOString();
    assert.equal(await remindAt(first_occurrence), '2040-01-31T08:30:00.000Z');
    const edit = { recurring_task_id: fieldOf(recurring_task, 'id'), reminder_lead_minutes: 10 };
    await tool('update_recurring_task', edit);
    const { next_occurrence } = await tool('complete_task', { task_id: fieldOf(first_occurrence, 'id') });
    assert.equal(await remindAt(next_occurrence), '2040-02-29T09:50:00.000Z');
    const { task } = await tool('reopen_task', { task_id: fieldOf(first_occurrence, 'id') });
    assert.equal(await remindAt(task), '2040-01-31T09:50:00.000Z');
    assert.equal((await open()).length, 1, 'the next occurrence is withdrawn');
  });

  it('record the changed fields of an update; they record no event if nothing changed', async () => {
    const id = await added({ title: ' Buy milk ', due_date: inDays(1), tags: ['Home', 'home', ' shop '] });
    team.pass(1); // Advances the clock, because events of one millisecond have no order.
    await tool('update_task', { task_id: id, priority: 'HIGH', title: 'Buy oat milk' });
    const { message } = await tool('set_task_priority', { task_id: id, priority: 'HIGH' });
    assert.match(String(message), /Nothing was changed/);
    team.pass(60);
    await tool('complete_task', { task_id: id });
    const reported = await events(id);
    const types = reported.map(({ event_type }) => event_type);
    assert.deepEqual(types, ['completed', 'updated', 'created'].slice(0, reported.length));
    assert.equal(reported.length, 3);
    const updated = reported[1]?.['event_data'];
    assert.ok(isObject(updated) && isObject(updated['before']) && isObject(updated['after']));
    assert.deepEqual(updated['changes'], ['title', 'priority']);
    assert.equal(updated['before']['title'], 'Buy milk');
    assert.deepEqual(updated['after']['tags'], ['Home', 'shop']);
  });

  it('record no event and keep the reminder if a call changes nothing', async () => {
    const due_date = inDays(1);
    const id = await added({ title: 'Buy milk', description: 'Two', due_date, tags: ['Home'] });
    const reminder = firestore().doc(reminderPath(id));
    const before = (await reminder.get()).updateTime;
    for (const [name, args] of [
      ['update_task', { title: ' Buy milk ', description: 'Two', due_date, tags: ['Home'] }],
      ['update_task', { priority: 'MEDIUM' }],
      ['set_task_priority', { priority: 'MEDIUM' }],
      ['set_task_due_date', { due_date: due_date.replace('Z', '+00:00') }],
      ['add_task_tags', { tags: ['home', ' HOME '] }],
    ] as const) {
      const { success } = await tool(name, { task_id: id, ...args });
      assert.equal(success, true, name);
    }
    const eventTypes = (await events(id)).map(({ event_type }) => event_type);
    assert.deepEqual(eventTypes, ['created']);
    assert.deepEqual((await reminder.get()).updateTime, before);
  });

  it('return the errors that the specification prints', async () => {
    const id = await added({ title: 'One', due_date: inDays(1) });
    const missing = await refused('complete_task', { task_id: '123' });
    assert.equal(missing['code'], 'TASK_NOT_FOUND');
    assert.equal(missing['message'], "Task with ID '123' not found");
    assert.ok(isObject(missing['details']));
    assert.equal(missing['details']['task_id'], '123');
    assert.equal(missing['details']['user_id'], team.leader.owner_uid);
    const past = await refused('add_task', { title: 'Two', due_date: inDays(-1) });
    assert.equal(past['code'], 'VALIDATION_ERROR');
    const twice = await refused('add_task', { title: ' ONE', due_date: inDays(1) });
    assert.equal(twice['code'], 'DUPLICATE_TASK');
    const tags = Array.from({ length: 11 }, (_, index) => `tag-${index}`);
    assert.equal((await refused('add_task', { title: 'Two', tags }))['code'], 'MAX_TAGS_EXCEEDED');
    await tool('add_task_tags', { task_id: id, tags: tags.slice(0, 10) });
    assert.equal((await refused('add_task_tags', { task_id: id, tags: ['one more'] }))['code'], 'MAX_TAGS_EXCEEDED');
    const hourly = { title: 'Often', frequency: 'HOURLY', start_date: inDays(1) };
    assert.equal((await refused('create_recurring_task', hourly))['code'], 'INVALID_FREQUENCY');
    const stranger = { ...team.leader, owner_uid: 'another' };
    assert.equal((await refused('delete_task', { task_id: id }, stranger))['code'], 'TASK_NOT_FOUND');
    assert.equal((await refused('get_task_history', { task_id: id }, stranger))['code'], 'TASK_NOT_FOUND');
  });

  it('allow the title of a to-do again once it is completed, deleted or moved to another day', async () => {
    for (const end of ['complete_task', 'delete_task', 'set_task_due_date']) {
      const id = await added({ title: end });
      await tool(end, { task_id: id, ...(end === 'set_task_due_date' && { due_date: inDays(2) }) });
      await added({ title: end });
    }
  });

  it('create one to-do if five concurrent calls add a to-do with the same title', async () => {
    const adding = Array.from({ length: 5 }, () => call(team, 'todo_add_task', { title: 'Once' }));
    const results = await Promise.all(adding);
    assert.equal(results.filter(({ isError }) => isError === undefined).length, 1);
    assert.equal((await open()).length, 1);
  });

  it('filter, sort and count to-dos; to-dos without a due date are last in both directions', async () => {
    await added({ title: 'None', priority: 'LOW', tags: ['Work'] });
    team.pass(1);
    await added({ title: 'Late', priority: 'HIGH', tags: ['work', 'urgent'], due_date: inDays(3) });
    team.pass(1);
    await added({ title: 'Soon', priority: 'MEDIUM', tags: ['urgent', 'WORK', 'x'], due_date: inDays(1) });
    assert.deepEqual(await titles('sort_tasks', { sort_by: 'due_date', sort_order: 'asc' }), ['Soon', 'Late', 'None']);
    assert.deepEqual(await titles('sort_tasks', { sort_by: 'due_date' }), ['Late', 'Soon', 'None']);
    assert.deepEqual(await titles('sort_tasks', { sort_by: 'priority' }), ['Late', 'Soon', 'None']);
    assert.deepEqual(await titles('list_tasks'), ['Soon', 'Late', 'None']);
    assert.deepEqual(await titles('filter_tasks', { tags: ['Urgent', 'work'] }), ['Soon', 'Late']);
    const range = { due_after: inDays(2), due_before: inDays(4) };
    for (const sort_by of ['due_date', 'priority', 'created_at'])
      assert.deepEqual(await titles('filter_tasks', { ...range, tags: ['work'], sort_by }), ['Late'], sort_by);
    const asked = { tags: ['work'], sort_by: 'priority', limit: 2 };
    const first = await tool('list_tasks', asked);
    assert.deepEqual([first['total'], first['truncated']], [3, true]);
    const cursor = String(first['next_cursor']);
    assert.deepEqual(await titles('list_tasks', { ...asked, cursor }), ['None']);
  });

  it('find to-dos by prefixes of words; matches in titles are first', async () => {
    await added({ title: 'Crème brûlée', description: 'For the Meeting on Monday' });
    team.pass(1);
    await added({ title: 'Meeting notes', description: 'creme' });
    team.pass(1);
    await added({ title: 'Nothing of it' });
    assert.deepEqual(await titles('search_tasks', { query: 'meet' }), ['Meeting notes', 'Crème brûlée']);
    assert.deepEqual(await titles('search_tasks', { query: 'CREME' }), ['Crème brûlée', 'Meeting notes']);
    assert.deepEqual(await titles('search_tasks', { query: 'brulee monday' }), ['Crème brûlée']);
    assert.equal((await tool('search_tasks', { query: 'meet', limit: 1 }))['total'], 2);
  });

  it('move the reminder with the due date; delete it with the date or if the to-do is completed', async () => {
    const id = await added({ title: 'Remember', due_date: inDays(1) });
    const remindAt = async () => (await firestore().doc(reminderPath(id)).get()).get('remind_at')?.toDate();
    assert.deepEqual(await remindAt(), new Date(new Date(inDays(1)).getTime() - 3_600_000));
    await tool('set_task_due_date', { task_id: id, due_date: inDays(2) });
    assert.deepEqual(await remindAt(), new Date(new Date(inDays(2)).getTime() - 3_600_000));
    await tool('update_task', { task_id: id, clear: ['due_date'] });
    assert.equal(await remindAt(), undefined);
    await tool('set_task_due_date', { task_id: id, due_date: inDays(2) });
    await tool('complete_task', { task_id: id });
    assert.equal(await remindAt(), undefined);
  });

  it('return an empty history to the owner after the events have expired', async () => {
    const id = await added({ title: 'Old' });
    const found = await firestore().collection(COLLECTIONS.events).where('task_id', '==', id).get();
    await Promise.all(found.docs.map(({ ref }) => ref.delete()));
    assert.deepEqual(await events(id), []);
    const stranger = { ...team.leader, owner_uid: 'another' };
    const asked = { task_id: id };
    assert.equal((await refused('get_task_history', asked, stranger))['code'], 'TASK_NOT_FOUND');
    await tool('delete_task', asked);
    assert.equal((await events(id)).length, 1);
  });

  it('reopen a to-do with its reminder and title, and record it in the history', async () => {
    const due = inDays(2);
    const id = await added({ title: 'Buy milk', due_date: due });
    assert.equal((await refused('reopen_task', { task_id: id }))['code'], 'CONFLICT');
    const reminder = async () => (await firestore().doc(reminderPath(id)).get()).exists;
    team.pass(1);
    await tool('complete_task', { task_id: id });
    assert.equal(await reminder(), false);
    team.pass(1);
    const { task } = await tool('reopen_task', { task_id: id });
    assert.deepEqual([isObject(task) && task['completed'], isObject(task) && task['completed_at']], [false, undefined]);
    assert.equal(await reminder(), true);
    assert.equal((await refused('add_task', { title: 'buy MILK', due_date: due }))['code'], 'DUPLICATE_TASK');
    const types = (await events(id)).map(({ event_type }) => event_type);
    assert.deepEqual(types, ['updated', 'completed', 'created']);
  });

  it('do not reopen a to-do if another to-do has taken its title in the meantime', async () => {
    const due_date = inDays(1);
    const id = await added({ title: 'Buy milk', due_date });
    await tool('complete_task', { task_id: id });
    await added({ title: 'Buy milk', due_date });
    assert.equal((await refused('reopen_task', { task_id: id }))['code'], 'DUPLICATE_TASK');
  });

  describe('for recurring to-dos', () => {
    async function begin(args: JsonObject = {}): Promise<{ readonly recurring: string; readonly first: string }> {
      const { recurring_task, first_occurrence } = await tool('create_recurring_task', {
        title: 'Standup',
        frequency: 'DAILY',
        start_date: inDays(1),
        ...args,
      });
      return { recurring: fieldOf(recurring_task, 'id'), first: fieldOf(first_occurrence, 'id') };
    }

    it('create one next occurrence if concurrent calls complete the first occurrence', async () => {
      const { first } = await begin();
      const completing = Array.from({ length: 4 }, () => call(team, 'todo_complete_task', { task_id: first }));
      const results = await Promise.all(completing);
      assert.equal(results.filter(({ isError }) => isError === undefined).length, 1);
      await Promise.all([1, 2].map(() => team.app.services.repairTodo(first, undefined)));
      const [next, ...more] = await open();
      assert.deepEqual(more, []);
      assert.equal(next?.['due_date'], inDays(2));
    });

    it('delete the next occurrence if the previous is reopened, and recreate it on completion', async () => {
      const { first } = await begin();
      const { next_occurrence } = await tool('complete_task', { task_id: first });
      const next = fieldOf(next_occurrence, 'id');
      const before = (await firestore().doc(todoPath(next)).get()).data();
      const { removed_occurrence } = await tool('reopen_task', { task_id: first });
      assert.equal(removed_occurrence, next);
      const { todos } = team.app.todo.ports;
      assert.equal(await todos.find(next), undefined);
      // The trigger for this deletion must change nothing.
      const { todoFromRecord } = await import('../../../functions/src/toolsets/todo/store/todoDocument.ts');
      assert.ok(todoFromRecord(before));
      await team.app.services.repairTodo(next, before);
      const ids = (await open()).map(({ id }) => id);
      assert.deepEqual(ids, [first]);
      team.pass(1);
      await tool('complete_task', { task_id: first });
      const openIds = (await open()).map(({ id }) => id);
      assert.deepEqual(openIds, [next]);
      await tool('delete_task', { task_id: next });
      assert.equal((await open()).length, 1, 'the next occurrence exists after the deletion');
    });

    it('keep a next occurrence that was edited, and continue if the last occurrence is reopened', async () => {
      const { first } = await begin({ end_date: inDays(2) });
      const { next_occurrence } = await tool('complete_task', { task_id: first });
      const next = fieldOf(next_occurrence, 'id');
      await tool('set_task_priority', { task_id: next, priority: 'HIGH' });
      const { kept_occurrence, message } = await tool('reopen_task', { task_id: first });
      assert.equal(kept_occurrence, next);
      assert.match(String(message), /stays/);
      await tool('complete_task', { task_id: first });
      await tool('complete_task', { task_id: next });
      assert.deepEqual(await open(), []);
      await tool('reopen_task', { task_id: next });
      const { recurring_tasks } = await tool('list_recurring_tasks', {});
      assert.ok(Array.isArray(recurring_tasks) && recurring_tasks.length === 1, 'the recurring task continues');
    });

    it('skip a deleted occurrence, and stop if the series is deleted or its last date has passed', async () => {
      const { recurring, first } = await begin();
      await tool('delete_task', { task_id: first });
      const [second] = await open();
      assert.equal(second?.['due_date'], inDays(2));
      await tool('delete_recurring_task', { recurring_task_id: recurring });
      await tool('complete_task', { task_id: fieldOf(second, 'id') });
      assert.deepEqual(await open(), []);
      assert.deepEqual((await tool('list_recurring_tasks'))['recurring_tasks'], []);
      const last = await begin({ end_date: inDays(1) });
      assert.equal('next_occurrence' in (await tool('complete_task', { task_id: last.first })), false);
    });

    it('reserve the title of an occurrence at its first update after the title has become free', async () => {
      const single = await added({ title: 'Standup', due_date: inDays(2) });
      const { first } = await begin();
      const { next_occurrence } = await tool('complete_task', { task_id: first });
      const next = fieldOf(next_occurrence, 'id');
      await tool('set_task_priority', { task_id: next, priority: 'HIGH' });
      await tool('complete_task', { task_id: single });
      await tool('set_task_priority', { task_id: next, priority: 'LOW' });
      const again = { title: 'Standup', due_date: inDays(2) };
      assert.equal((await refused('add_task', again))['code'], 'DUPLICATE_TASK');
      await tool('complete_task', { task_id: next });
      await added(again);
      assert.equal((await refused('reopen_task', { task_id: next }))['code'], 'DUPLICATE_TASK');
    });

    it('keep the open occurrence and its reminder if the time zone changes', async () => {
      const { recurring, first } = await begin({ timezone: 'UTC' });
      const due = inDays(1);
      const change = { recurring_task_id: recurring, timezone: 'Asia/Tokyo', frequency: 'WEEKLY' };
      const { recurring_task } = await tool('update_recurring_task', change);
      assert.equal(fieldOf(recurring_task, 'next_occurrence'), due);
      const { reminders } = await tool('list_reminders', {});
      assert.ok(Array.isArray(reminders));
      const rows = reminders.map((one) => [fieldOf(one, 'id'), fieldOf(one, 'remind_at')]);
      assert.deepEqual(rows, [[first, new Date(Date.parse(due) - 3_600_000).toISOString()]]);
      const { next_occurrence } = await tool('complete_task', { task_id: first });
      // Midnight in Tokyo is nine hours before midnight in UTC.
      assert.equal(fieldOf(next_occurrence, 'due_date'), inDays(8 - 9 / 24));
    });

    it('create an occurrence on the last day of a series, and return this day', async () => {
      const start_date = inDays(1.9);
      const { recurring_task, first_occurrence, message } = await tool('create_recurring_task', {
        title: 'Review',
        frequency: 'WEEKLY',
        start_date,
        end_date: inDays(15),
      });
      assert.match(String(message), new RegExp(`last on ${inDays(15.9)}`));
      const end = new Date(Date.parse(inDays(16)) - 1).toISOString();
      assert.equal(fieldOf(recurring_task, 'end_date'), end);
      let id = fieldOf(first_occurrence, 'id');
      for (const day of [8.9, 15.9]) {
        const { next_occurrence } = await tool('complete_task', { task_id: id });
        assert.equal(fieldOf(next_occurrence, 'due_date'), inDays(day));
        id = fieldOf(next_occurrence, 'id');
      }
      const { recurring_tasks } = await tool('list_recurring_tasks', {});
      assert.ok(Array.isArray(recurring_tasks));
      assert.equal(fieldOf(recurring_tasks[0], 'end_date'), end);
      const last = await tool('complete_task', { task_id: id });
      assert.equal('next_occurrence' in last, false);
    });

    it('keep the schedule if one occurrence is moved', async () => {
      const { first } = await begin();
      await tool('set_task_due_date', { task_id: first, due_date: inDays(0.5) });
      await tool('complete_task', { task_id: first });
      assert.equal((await open())[0]?.['due_date'], inDays(2));
    });

    it('continue if the owner completes or deletes an occurrence without the tools', async () => {
      const { first } = await begin();
      const document = firestore().doc(todoPath(first));
      const [inTwoDays, inThreeDays] = [inDays(2), inDays(3)];
      team.pass(60);
      await document.update({ completed: true, title: 'Stand-up' });
      await Promise.all([1, 2, 3].map(() => team.app.services.repairTodo(first, undefined)));
      const types = (await events(first)).map(({ event_type }) => event_type);
      assert.deepEqual(types, ['completed', 'created']);
      const [second, ...more] = await open();
      assert.deepEqual([second?.['due_date'], more.length], [inTwoDays, 0]);
      assert.equal((await document.get()).get('completed_at')?.toDate().getTime(), team.now.getTime());
      assert.deepEqual(await titles('search_tasks', { query: 'stand' }), ['Standup', 'Stand-up']);
      const id = fieldOf(second, 'id');
      const deleted = (await firestore().doc(todoPath(id)).get()).data();
      await firestore().doc(todoPath(id)).delete();
      await Promise.all([1, 2].map(() => team.app.services.repairTodo(id, deleted)));
      assert.equal((await events(id))[0]?.['event_type'], 'deleted');
      assert.equal((await open())[0]?.['due_date'], inThreeDays);
    });
  });

  it('record no event if a call is rejected', async () => {
    const count = async () =>
      (
        await firestore().collection(COLLECTIONS.events).where('user_id', '==', team.leader.owner_uid).count().get()
      ).data().count;
    await added({ title: 'A' });
    await refused('add_task', { title: 'a' });
    assert.equal(await count(), 1);
  });
});

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(value: unknown, field: string): string {
  assert.ok(isObject(value));
  return String(value[field]);
}
