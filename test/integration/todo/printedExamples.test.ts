/** Makes the example calls of the to-do specification in order, and compares the responses with printed ones. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { assertPrinted, Known, type PrintedCall, SOME, spoken, TIME } from '../../support/printed.ts';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

/** Returns a printed date with the year replaced by that of the integration tests' clocks. */
const printed = (date: string): string => date.replace('2026', '2040');

const TOMORROW_AT_FIVE = printed('2026-02-11T17:00:00.000Z');
const WEEK = { due_after: printed('2026-02-10T00:00:00Z'), due_before: printed('2026-02-16T23:59:59Z') };
const NEAREST_FIRST = { sort_by: 'due_date', sort_order: 'asc' };
const ONE_PAGE = { total_pages: 1, has_previous: false, truncated: false };

const PRESENTATION = {
  title: 'Finish presentation',
  priority: 'HIGH',
  due_date: TOMORROW_AT_FIVE,
  tags: ['work', 'urgent'],
};

const made = (fields: JsonObject): JsonObject => ({ completed: false, ...fields, id: SOME, created_at: TIME });
const LOGIN = { title: 'Fix the login page', description: 'After the meeting' };
const loginId = (known: Known) => known.of('the login page', 'task', 'id');
const login = (known: Known, more: JsonObject): JsonObject => ({
  ...Object(known.of('the login page', 'task')),
  ...more,
});

/** Fields of the to-do "Fix the login page" that calls change, one constant per change. */
const URGENT = { priority: 'HIGH' };
const DUE = { ...URGENT, due_date: TOMORROW_AT_FIVE };
const TAGGED = { ...DUE, tags: ['urgent', 'bug'] };
const RENAMED = { ...TAGGED, title: 'Fix the sign-in page', priority: 'LOW' };

const printedCall = (title: string, tool: string, example: Omit<PrintedCall, 'title' | 'tool'>): PrintedCall => ({
  title,
  tool,
  ...example,
});

const CALLS = [
  printedCall('1. add_task', 'add_task', {
    args: PRESENTATION,
    prints: { success: true, task: made(PRESENTATION), message: "Task 'Finish presentation' added." },
  }),
  printedCall('the login page', 'add_task', {
    args: LOGIN,
    prints: { success: true, task: made({ ...LOGIN, priority: 'MEDIUM', tags: [] }), message: SOME },
  }),
  printedCall('2. update_task', 'update_task', {
    args: (known) => ({ task_id: loginId(known), priority: 'HIGH' }),
    prints: (known) => ({ success: true, task: login(known, URGENT), message: 'Task updated.' }),
  }),
  printedCall('a recurring to-do', 'create_recurring_task', {
    args: { title: 'Daily standup', frequency: 'DAILY', start_date: printed('2026-02-10T09:00:00Z') },
    prints: {
      success: true,
      message: SOME,
      recurring_task: {
        id: SOME,
        created_at: TIME,
        title: 'Daily standup',
        frequency: 'DAILY',
        timezone: 'UTC',
        start_date: printed('2026-02-10T09:00:00.000Z'),
        priority: 'MEDIUM',
        tags: [],
        next_occurrence: printed('2026-02-10T09:00:00.000Z'),
      },
      first_occurrence: { id: SOME, title: 'Daily standup', due_date: printed('2026-02-10T09:00:00.000Z') },
    },
  }),
  printedCall('3. complete_task', 'complete_task', {
    args: (known) => ({ task_id: known.of('a recurring to-do', 'first_occurrence', 'id') }),
    prints: (known) => ({
      success: true,
      task: {
        id: known.of('a recurring to-do', 'first_occurrence', 'id'),
        title: 'Daily standup',
        due_date: printed('2026-02-10T09:00:00.000Z'),
        priority: 'MEDIUM',
        tags: [],
        completed: true,
        completed_at: TIME,
        created_at: TIME,
        recurring_task_id: known.of('a recurring to-do', 'recurring_task', 'id'),
      },
      next_occurrence: { id: SOME, title: 'Daily standup', due_date: printed('2026-02-11T09:00:00.000Z') },
      message: `Task completed! Next occurrence created for ${printed('2026-02-11T09:00:00.000Z')}`,
    }),
  }),
  printedCall('a deleted to-do', 'add_task', {
    args: { title: 'Of no use', due_date: TOMORROW_AT_FIVE },
    prints: {
      success: true,
      message: SOME,
      task: made({ title: 'Of no use', due_date: TOMORROW_AT_FIVE, priority: 'MEDIUM', tags: [] }),
    },
  }),
  printedCall('4. delete_task', 'delete_task', {
    args: (known) => ({ task_id: known.of('a deleted to-do', 'task', 'id') }),
    prints: { success: true, message: "Task 'Of no use' deleted." },
  }),
  printedCall('5. list_tasks', 'list_tasks', {
    args: { priority: 'HIGH', tags: ['work'], ...WEEK, ...NEAREST_FIRST },
    prints: (known) => ({ tasks: [known.of('1. add_task', 'task')], total: 1, ...ONE_PAGE }),
  }),
  printedCall('6. set_task_priority', 'set_task_priority', {
    args: (known) => ({ task_id: loginId(known), priority: 'HIGH' }),
    prints: (known) => ({ success: true, task: login(known, URGENT), message: SOME }),
  }),
  printedCall('7. set_task_due_date', 'set_task_due_date', {
    args: (known) => ({ task_id: loginId(known), due_date: TOMORROW_AT_FIVE }),
    prints: (known) => ({ success: true, task: login(known, DUE), message: SOME }),
  }),
  printedCall('8. add_task_tags', 'add_task_tags', {
    args: (known) => ({ task_id: loginId(known), tags: ['urgent', 'bug'] }),
    prints: (known) => ({ success: true, task: login(known, TAGGED), message: SOME }),
  }),
  printedCall('9. search_tasks', 'search_tasks', {
    args: { query: 'meeting' },
    prints: (known) => ({ tasks: [login(known, TAGGED)], total: 1, ...ONE_PAGE }),
  }),
  printedCall('10. filter_tasks', 'filter_tasks', {
    args: { priority: 'HIGH', tags: ['work'], ...WEEK, completed: false, ...NEAREST_FIRST },
    prints: (known) => ({ tasks: [known.of('1. add_task', 'task')], total: 1, ...ONE_PAGE }),
  }),
  printedCall('12. create_recurring_task', 'create_recurring_task', {
    args: { title: 'Check emails', frequency: 'DAILY', start_date: printed('2026-02-11T09:00:00Z') },
    prints: {
      success: true,
      message: SOME,
      recurring_task: {
        id: SOME,
        created_at: TIME,
        title: 'Check emails',
        frequency: 'DAILY',
        timezone: 'UTC',
        start_date: printed('2026-02-11T09:00:00.000Z'),
        priority: 'MEDIUM',
        tags: [],
        next_occurrence: printed('2026-02-11T09:00:00.000Z'),
      },
      first_occurrence: { id: SOME, title: 'Check emails', due_date: printed('2026-02-11T09:00:00.000Z') },
    },
  }),
];

describe('a conversation as in the to-do specification', function () {
  // The calls are one conversation, in which each call uses the results of earlier calls.
  this.bail(true);
  const known = new Known();
  const team = new Team();
  team.now = new Date(printed('2026-02-10T08:00:00Z'));

  const ask = (tool: string, args: JsonObject) => call(team, `todo_${tool}`, args);

  for (const { title, tool, args, prints } of CALLS)
    it(`returns the printed response for ${title}`, async () => {
      team.pass(1);
      const { structuredContent } = await ask(tool, spoken(args, known));
      assertPrinted(structuredContent, spoken(prints, known), title);
      known.keep(title, structuredContent);
    });

  it('sorts to-dos in the order that example 11, sort_tasks, prints', async () => {
    const { structuredContent } = await ask('sort_tasks', { ...NEAREST_FIRST, limit: 20 });
    assert.deepEqual(
      Object(structuredContent['tasks']).map((task: { readonly title: string }) => task.title),
      ['Daily standup', 'Daily standup', 'Check emails', 'Finish presentation', 'Fix the login page'],
    );
  });

  it('lists the reminders in example 13, list_reminders, except those of deleted to-dos', async () => {
    const { structuredContent } = await ask('list_reminders', { upcoming: true, limit: 10 });
    const reminder = (task_title: string, hour: string): JsonObject => ({
      id: SOME,
      task_id: SOME,
      task_title,
      sent: false,
      remind_at: printed(`2026-02-11T${hour}:00:00.000Z`),
    });
    const sorted = Object(structuredContent['reminders']).toSorted(
      (one: JsonObject, other: JsonObject) =>
        String(one['remind_at']).localeCompare(String(other['remind_at'])) ||
        String(one['task_title']).localeCompare(String(other['task_title'])),
    );
    assertPrinted(sorted, [
      reminder('Check emails', '08'),
      reminder('Daily standup', '08'),
      reminder('Finish presentation', '16'),
      reminder('Fix the login page', '16'),
    ]);
    assert.equal(structuredContent['total'], 4);
  });

  it('returns events with the structure that the specification prints', async () => {
    const task_id = loginId(known);
    await ask('update_task', { task_id, title: RENAMED.title, priority: RENAMED.priority });
    const { structuredContent } = await ask('get_task_history', { task_id });
    assertPrinted(Object(structuredContent['events'])[0], {
      event_id: SOME,
      timestamp: TIME,
      schema_version: 1,
      event_type: 'updated',
      task_id,
      user_id: team.leader.owner_uid,
      event_data: { before: login(known, TAGGED), after: login(known, RENAMED), changes: ['title', 'priority'] },
    });
  });

  const tags = Array.from({ length: 11 }, (_, index) => `tag-${index}`);
  const repeated = { title: ' finish PRESENTATION ', due_date: TOMORROW_AT_FIVE };
  const yearly = { title: 'Birthday', frequency: 'YEARLY', start_date: TOMORROW_AT_FIVE };
  for (const [code, tool, args, more] of [
    ['TASK_NOT_FOUND', 'complete_task', { task_id: '123' }, { message: "Task with ID '123' not found" }],
    ['VALIDATION_ERROR', 'add_task', { title: 'Too late', due_date: printed('2026-02-09T12:00:00Z') }, {}],
    ['DUPLICATE_TASK', 'add_task', repeated, {}],
    ['MAX_TAGS_EXCEEDED', 'add_task', { title: 'Much', tags }, {}],
    ['INVALID_FREQUENCY', 'create_recurring_task', yearly, {}],
  ] as const)
    it(`returns the error ${code} as the specification prints it`, async () => {
      const { isError, structuredContent } = await ask(tool, args);
      assert.equal(isError, true);
      const { details, ...error } = Object(structuredContent['error']);
      assertPrinted({ ...structuredContent, error }, { success: false, error: { code, message: SOME, ...more } });
      if (code === 'TASK_NOT_FOUND')
        assert.deepEqual([details.task_id, details.user_id], ['123', team.leader.owner_uid]);
    });

  it("returns TASK_NOT_FOUND for another owner's to-do", async () => {
    const { structuredContent } = await call(new Team(), 'todo_complete_task', {
      task_id: known.of('1. add_task', 'task', 'id'),
    });
    assert.equal(Object(structuredContent['error']).code, 'TASK_NOT_FOUND');
  });
});
