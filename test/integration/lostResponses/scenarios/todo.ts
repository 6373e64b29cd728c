import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { unkeyed } from '../../coordination/team.ts';
import { type LostResponseFixture, type Prepared, scenariosOf } from '../fixture.ts';

const DAY = 86_400_000;
const inDays = (fixture: LostResponseFixture, days: number) => new Date(fixture.now.getTime() + days * DAY);

/** Creates a to-do with a due date, a tag and a reminder. */
async function one(fixture: LostResponseFixture, more: JsonObject = {}): Promise<Prepared> {
  const draft = { title: 'Water the plants', due_date: inDays(fixture, 1), tags: ['home'] };
  const { id } = await fixture.app.services.todos.add(fixture.leader.owner_uid, draft, unkeyed);
  return { args: { task_id: id, ...more } };
}

/** Creates the first occurrence of a recurring to-do. */
async function occurrence(fixture: LostResponseFixture): Promise<Prepared> {
  return { args: { task_id: (await started(fixture)).first.id } };
}

function started(fixture: LostResponseFixture) {
  const draft = { title: 'Standup', frequency: 'DAILY', start_date: inDays(fixture, 1) } as const;
  return fixture.app.services.recurringTasks.create(fixture.leader.owner_uid, draft, unkeyed);
}

async function recurring(fixture: LostResponseFixture, more: JsonObject = {}): Promise<Prepared> {
  return { args: { recurring_task_id: (await started(fixture)).recurringTask.id, ...more } };
}

async function completed(
  fixture: LostResponseFixture,
  made: (fixture: LostResponseFixture) => Promise<Prepared>,
): Promise<Prepared> {
  const { args } = await made(fixture);
  await fixture.app.services.todos.complete(fixture.leader.owner_uid, String(args['task_id']), unkeyed);
  return { args };
}

const DUE = '2041-02-11T17:00:00Z';

export const todo = scenariosOf('todo', {
  add_task: {
    'with a due date': async () => ({ args: { title: 'A', due_date: DUE, tags: ['work'] } }),
    'without a due date': async () => ({ args: { title: 'A' } }),
    'as part of a to-do': async (fixture) => {
      const { args } = await one(fixture);
      return { args: { title: 'A', part_of: { kind: 'todo', id: String(args['task_id']) } } };
    },
  },
  update_task: (fixture) => one(fixture, { title: 'Another title', priority: 'HIGH', due_date: DUE }),
  complete_task: { 'that does not recur': (fixture) => one(fixture), 'that recurs': occurrence },
  reopen_task: {
    'that does not recur': (fixture) => completed(fixture, one),
    'that recurs': (fixture) => completed(fixture, occurrence),
  },
  delete_task: { 'that does not recur': (fixture) => one(fixture), 'that recurs': occurrence },
  set_task_priority: (fixture) => one(fixture, { priority: 'HIGH' }),
  set_task_due_date: (fixture) => one(fixture, { due_date: DUE }),
  add_task_tags: (fixture) => one(fixture, { tags: ['urgent'] }),
  create_recurring_task: async () => ({ args: { title: 'Mails', frequency: 'DAILY', start_date: DUE } }),
  update_recurring_task: (fixture) => recurring(fixture, { title: 'Another title', frequency: 'WEEKLY' }),
  delete_recurring_task: (fixture) => recurring(fixture),
  set_reminder: (fixture) => one(fixture, { remind_at: '2040-01-01T06:00:00Z' }),
  snooze_reminder: async (fixture) => {
    const { args } = await one(fixture);
    return { args: { reminder_id: String(args['task_id']), minutes: 30 } };
  },
  delegate: (fixture) => one(fixture),
  delete_reminder: async (fixture) => {
    const { args } = await one(fixture);
    return { args: { reminder_id: String(args['task_id']) } };
  },
});
