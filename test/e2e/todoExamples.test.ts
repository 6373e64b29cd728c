/** The examples of the to-do specification as one conversation, in their order, in each era of MCP. */
import assert from 'node:assert/strict';
import { succeed } from './support/calls.ts';
import { type Connection, connect, ERAS, isRecord } from './support/clients.ts';
import { endpointUrl } from './support/endpoint.ts';
import { newPerson, type TestPerson } from './support/people.ts';

type Fields = Readonly<Record<string, unknown>>;

const DAY = 86_400_000;

/** By so many days the printed dates are moved: what they mean by tomorrow is then the day after tomorrow. */
const DAYS_SINCE = Math.floor(Date.now() / DAY) + 1 - Date.parse('2026-02-10') / DAY;

/** A printed date, as callers would write it today. */
function printed(date: string): string {
  return new Date(Date.parse(date) + DAYS_SINCE * DAY).toISOString();
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const TOMORROW_AT_FIVE = printed('2026-02-11T17:00:00Z');
const WEEK = { due_after: printed('2026-02-10T00:00:00Z'), due_before: printed('2026-02-16T23:59:59Z') };
const NEAREST_FIRST = { sort_by: 'due_date', sort_order: 'asc' };

const PRESENTATION = {
  title: 'Finish presentation',
  priority: 'HIGH',
  due_date: TOMORROW_AT_FIVE,
  tags: ['work', 'urgent'],
};

for (const era of ERAS) {
  describe(`the examples of the to-do specification through ${era}`, () => {
    let person: TestPerson;
    let client: Connection;
    let presentation: Fields;
    /** The one that the printed calls name 123. */
    let login: Fields;

    before(async () => {
      person = await newPerson();
      client = await connect(era, endpointUrl('/todo'), person.token);
    });
    after(() => client?.close());

    const call = (tool: string, args: Fields = {}) => succeed(client, tool, args);

    async function add(args: Fields): Promise<Fields> {
      return fieldsOf((await call('add_task', args))['task']);
    }

    async function titles(tool: string, args: Fields): Promise<readonly unknown[]> {
      const { tasks, total } = await call(tool, args);
      const found = listOf(tasks);
      assert.equal(total, found.length);
      return found.map(({ title }) => title);
    }

    it('1. add_task', async () => {
      const { success, task, message } = await call('add_task', PRESENTATION);
      presentation = fieldsOf(task);
      const { id, created_at, ...rest } = presentation;
      assert.deepEqual(rest, { ...PRESENTATION, completed: false });
      assertMade(id, created_at);
      assert.deepEqual([success, message], [true, "Task 'Finish presentation' added."]);
    });

    it('2. update_task', async () => {
      login = await add({ title: 'Fix the login page', description: 'After the meeting' });
      const answer = await call('update_task', { task_id: login['id'], priority: 'HIGH' });
      assert.deepEqual(answer, {
        success: true,
        task: { ...login, priority: 'HIGH' },
        message: 'Task updated.',
      });
    });

    it('3. complete_task', async () => {
      const start_date = printed('2026-02-10T09:00:00Z');
      const begun = await call('create_recurring_task', {
        title: 'Daily standup',
        frequency: 'DAILY',
        start_date,
      });
      const { id } = fieldsOf(begun['first_occurrence']);
      const answer = await call('complete_task', { task_id: id });
      const task = fieldsOf(answer['task']);
      assert.deepEqual([answer['success'], task['id'], task['completed']], [true, id, true]);
      assert.match(String(task['completed_at']), TIME);
      const { id: nextId, ...next } = fieldsOf(answer['next_occurrence']);
      const due_date = printed('2026-02-11T09:00:00Z');
      assert.deepEqual(next, { title: 'Daily standup', due_date });
      assert.ok(typeof nextId === 'string' && nextId !== id);
      assert.equal(answer['message'], `Task completed! Next occurrence created for ${due_date}`);
    });

    it('4. delete_task', async () => {
      const { id } = await add({ title: 'Of no use', due_date: TOMORROW_AT_FIVE });
      const answer = await call('delete_task', { task_id: id });
      assert.deepEqual(answer, { success: true, message: "Task 'Of no use' deleted." });
      const { reminders } = await call('list_reminders');
      assert.ok(listOf(reminders).every(({ task_id }) => task_id !== id));
    });

    it('5. list_tasks', async () => {
      const asked = { priority: 'HIGH', tags: ['work'], ...WEEK, ...NEAREST_FIRST };
      assert.deepEqual(await call('list_tasks', asked), {
        tasks: [presentation],
        total: 1,
        total_pages: 1,
        has_previous: false,
        truncated: false,
      });
    });

    it('6. set_task_priority', async () => {
      const review = await add({ title: 'Review', priority: 'LOW' });
      const answer = await call('set_task_priority', { task_id: review['id'], priority: 'HIGH' });
      assert.deepEqual(answer['task'], { ...review, priority: 'HIGH' });
      assert.deepEqual([answer['success'], typeof answer['message']], [true, 'string']);
    });

    it('7. set_task_due_date', async () => {
      const asked = { task_id: login['id'], due_date: TOMORROW_AT_FIVE };
      const answer = await call('set_task_due_date', asked);
      login = fieldsOf(answer['task']);
      assert.equal(login['due_date'], TOMORROW_AT_FIVE);
      assert.deepEqual([answer['success'], typeof answer['message']], [true, 'string']);
    });

    it('8. add_task_tags', async () => {
      const answer = await call('add_task_tags', { task_id: login['id'], tags: ['urgent', 'bug'] });
      assert.deepEqual(answer['task'], { ...login, tags: ['urgent', 'bug'] });
      assert.deepEqual([answer['success'], typeof answer['message']], [true, 'string']);
    });

    it('9. search_tasks', async () => {
      await add({ title: 'Meeting with Ada' });
      const found = await titles('search_tasks', { query: 'meeting' });
      assert.deepEqual(found, ['Meeting with Ada', 'Fix the login page']);
    });

    it('10. filter_tasks', async () => {
      const asked = { priority: 'HIGH', tags: ['work'], ...WEEK, completed: false, ...NEAREST_FIRST };
      assert.deepEqual(await titles('filter_tasks', asked), ['Finish presentation']);
    });

    it('11. sort_tasks', async () => {
      const sorted = await titles('sort_tasks', { ...NEAREST_FIRST, limit: 20 });
      assert.deepEqual(sorted, [
        'Daily standup',
        'Daily standup',
        'Finish presentation',
        'Fix the login page',
        'Review',
        'Meeting with Ada',
      ]);
    });

    it('12. create_recurring_task', async () => {
      const asked = {
        title: 'Check emails',
        frequency: 'DAILY',
        start_date: printed('2026-02-11T09:00:00Z'),
      };
      const answer = await call('create_recurring_task', asked);
      const { id, created_at, ...recurring } = fieldsOf(answer['recurring_task']);
      assertMade(id, created_at);
      const ours = { timezone: 'UTC', priority: 'MEDIUM', tags: [] };
      assert.deepEqual(recurring, { ...asked, next_occurrence: asked.start_date, ...ours });
      const { id: firstId, ...first } = fieldsOf(answer['first_occurrence']);
      assert.deepEqual(first, { title: 'Check emails', due_date: asked.start_date });
      assert.ok(typeof firstId === 'string' && firstId !== id);
      assert.deepEqual([answer['success'], typeof answer['message']], [true, 'string']);
    });

    it('13. list_reminders', async () => {
      const { reminders, total } = await call('list_reminders', { upcoming: true, limit: 10 });
      const listed = listOf(reminders);
      for (const { id, task_id } of listed) assert.ok(typeof id === 'string' && typeof task_id === 'string');
      const told: Fields[] = listed.map(({ id: _, task_id: __, ...rest }) => rest);
      const byTitle = told.toSorted((one, other) =>
        String(one['task_title']) < String(other['task_title']) ? -1 : 1,
      );
      const atEight = { remind_at: printed('2026-02-11T08:00:00Z'), sent: false };
      const atFour = { remind_at: printed('2026-02-11T16:00:00Z'), sent: false };
      assert.deepEqual(byTitle, [
        { task_title: 'Check emails', ...atEight },
        { task_title: 'Daily standup', ...atEight },
        { task_title: 'Finish presentation', ...atFour },
        { task_title: 'Fix the login page', ...atFour },
      ]);
      const times = listed.map(({ remind_at }) => String(remind_at));
      assert.deepEqual(times, times.toSorted(), 'the next comes first');
      assert.equal(total, 4);
    });

    it('Event structure', async () => {
      const { id } = login;
      await call('update_task', { task_id: id, title: 'Fix the sign-in page', priority: 'LOW' });
      const [event] = listOf((await call('get_task_history', { task_id: id }))['events']);
      const { event_id, timestamp, event_data, ...rest } = fieldsOf(event);
      assert.ok(typeof event_id === 'string' && TIME.test(String(timestamp)));
      assert.deepEqual(rest, {
        schema_version: 1,
        event_type: 'updated',
        task_id: id,
        user_id: person.uid,
      });
      const { before, after, changes } = fieldsOf(event_data);
      const tagged = { ...login, tags: ['urgent', 'bug'] };
      assert.deepEqual(before, tagged);
      assert.deepEqual(after, { ...tagged, title: 'Fix the sign-in page', priority: 'LOW' });
      assert.deepEqual(changes, ['title', 'priority']);
    });

    describe('Error handling', () => {
      async function refused(tool: string, args: Fields): Promise<Fields> {
        const { isError, structured, text } = await client.call(tool, args);
        assert.equal(isError, true, text);
        assert.deepEqual(JSON.parse(text), structured);
        const { success, error, ...rest } = structured;
        assert.deepEqual([success, rest], [false, {}]);
        const { code, message, details, ...more } = fieldsOf(error);
        assert.ok(typeof message === 'string' && isRecord(details));
        assert.deepEqual(more, {});
        return { code, message, details };
      }

      it('TASK_NOT_FOUND', async () => {
        const { details, ...error } = await refused('complete_task', { task_id: '123' });
        assert.deepEqual(error, { code: 'TASK_NOT_FOUND', message: "Task with ID '123' not found" });
        const { task_id, user_id } = fieldsOf(details);
        assert.deepEqual({ task_id, user_id }, { task_id: '123', user_id: person.uid });
      });

      it('TASK_NOT_FOUND for another’s', async () => {
        const other = await connect(era, endpointUrl('/todo'), (await newPerson()).token);
        try {
          const { isError, text } = await other.call('complete_task', { task_id: presentation['id'] });
          assert.deepEqual([isError, text.includes('TASK_NOT_FOUND')], [true, true]);
        } finally {
          await other.close();
        }
      });

      const tags = Array.from({ length: 11 }, (_, index) => `tag-${index}`);
      const repeated = { title: ' finish PRESENTATION ', due_date: TOMORROW_AT_FIVE };
      const yearly = { title: 'Birthday', frequency: 'YEARLY', start_date: TOMORROW_AT_FIVE };
      for (const [code, tool, args] of [
        ['VALIDATION_ERROR', 'add_task', { title: 'Too late', due_date: '2026-02-10T12:00:00Z' }],
        ['DUPLICATE_TASK', 'add_task', repeated],
        ['MAX_TAGS_EXCEEDED', 'add_task', { title: 'Much', tags }],
        ['INVALID_FREQUENCY', 'create_recurring_task', yearly],
      ] as const) {
        it(code, async () => {
          assert.equal((await refused(tool, args))['code'], code);
        });
      }
    });
  });
}

function fieldsOf(value: unknown): Fields {
  assert.ok(isRecord(value), JSON.stringify(value));
  return value;
}

function listOf(value: unknown): readonly Fields[] {
  assert.ok(Array.isArray(value), JSON.stringify(value));
  return value.map(fieldsOf);
}

function assertMade(id: unknown, createdAt: unknown): void {
  assert.ok(typeof id === 'string' && id !== '');
  assert.match(String(createdAt), TIME);
}
