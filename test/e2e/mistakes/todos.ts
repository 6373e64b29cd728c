/** Mistakes in calls that concern to-dos: dates, tags, recurrence and reminders. */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../support/clients.ts';
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const added = (args: object) => (fixture: MistakesFixture) =>
  fixture.call('todo_add_task', { title: `Milk ${randomUUID()}`, ...args });

const recurring = (args: object) => (fixture: MistakesFixture) =>
  fixture.call('todo_create_recurring_task', {
    title: `Milk ${randomUUID()}`,
    frequency: 'DAILY',
    start_date: '2099-01-01T09:00:00Z',
    ...args,
  });

/** A to-do with an invalid due date, whose error must contain an example of a valid date. */
const badDate = (who: string, due_date: string | number, happened = /date|time/i): Mistake => ({
  who,
  make: added({ due_date }),
  happened,
  where: /due_date/,
  next: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/,
});

async function newTodo(fixture: MistakesFixture, args: object = {}): Promise<string> {
  const { task } = await fixture.made('todo_add_task', { title: `Milk ${randomUUID()}`, ...args });
  return isRecord(task) ? String(task['id']) : '';
}

export const todoMistakes: readonly Mistake[] = [
  badDate('writes a date in words', 'tomorrow'),
  badDate('writes a date without a time', '2099-06-01'),
  badDate('writes a time without a time zone', '2099-06-01T09:00:00', /zone|offset/i),
  badDate('writes a date that does not exist', '2099-02-30T09:00:00Z'),
  badDate('writes a date as a number', 1_770_000_000, /expected a date/),
  mistake('sets a due date in the past', added({ due_date: '2020-01-01T09:00:00Z' }), {
    happened: /in the past/,
    where: /due_date/,
    next: /future time/,
  }),
  mistake('sets eleven tags', added({ tags: Array.from({ length: 11 }, (_, n) => `tag${n}`) }), {
    happened: /Too (big|many)|at most|more than/i,
    where: /tags/,
    next: /10/,
  }),
  mistake('sets an empty title', added({ title: '' }), {
    happened: /expected some text/,
    where: /title/,
    next: /some text/,
  }),
  mistake('writes a time zone in words', recurring({ timezone: 'Berlin time' }), {
    happened: /time ?zone/i,
    where: /timezone/,
    next: /Europe\/Berlin|America\/New_York/,
  }),
  mistake('asks for a yearly recurrence', recurring({ frequency: 'YEARLY' }), {
    happened: /Invalid|expected/i,
    where: /frequency/,
    next: /DAILY.*WEEKLY.*MONTHLY/,
  }),
  mistake('ends a recurrence before its start', recurring({ end_date: '2098-01-01T09:00:00Z' }), {
    happened: /before|after/,
    where: /end_date/,
    next: /after|later|start_date/,
  }),
  mistake('names an unknown to-do', (fixture) => fixture.call('todo_complete_task', { task_id: 'task-42' }), {
    happened: /not found/,
    where: /task_id/,
    next: /list_tasks|search_tasks/,
  }),
  mistake(
    'uses the id of a recurring task as that of a to-do',
    async (fixture) => {
      const rule = { title: `Milk ${randomUUID()}`, frequency: 'DAILY', start_date: '2099-01-01T09:00:00Z' };
      const { recurring_task } = await fixture.made('todo_create_recurring_task', rule);
      const id = isRecord(recurring_task) ? recurring_task['id'] : '';
      return fixture.call('todo_complete_task', { task_id: id });
    },
    { happened: /not found/, where: /task_id/, next: /list_tasks/ },
  ),
  mistake(
    'completes a to-do twice',
    async (fixture) => {
      const id = await newTodo(fixture);
      await fixture.made('todo_complete_task', { task_id: id });
      return fixture.call('todo_complete_task', { task_id: id });
    },
    { happened: /already completed/, where: /task_id/, next: /Nothing was changed/ },
  ),
  mistake(
    'adds the same to-do twice',
    async (fixture) => {
      const title = `Milk ${randomUUID()}`;
      await fixture.made('todo_add_task', { title });
      return fixture.call('todo_add_task', { title });
    },
    { happened: /already exists/, where: /title/, next: /Use that one|another/ },
  ),
  mistake(
    'sets a reminder in the past',
    async (fixture) =>
      fixture.call('todo_set_reminder', { task_id: await newTodo(fixture), remind_at: '2020-01-01T09:00:00Z' }),
    { happened: /in the past/, where: /remind_at/, next: /future time/ },
  ),
  {
    who: 'updates a to-do without any change',
    make: async (fixture) => fixture.call('todo_update_task', { task_id: await newTodo(fixture) }),
    happened: /nothing|no (change|field)|at least one/i,
    where: /title|description|argument|field/,
    next: /title|Give/,
  },
];
