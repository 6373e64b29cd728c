/** Scenarios for to-dos: reminders, recurrences, search and history. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Agent } from '../fixture.ts';
import type { Place, Scenario } from '../scenario.ts';

const HOUR = 3_600_000;
const todo = z.object({ id: z.string(), title: z.string(), completed: z.boolean(), priority: z.string() });
const one = z.object({ task: todo });
const several = z.object({ tasks: z.array(todo) });
const recurring = z.object({ first_occurrence: todo.partial({ completed: true, priority: true }) });
const completed = one.extend({ next_occurrence: z.object({ id: z.string(), due_date: z.string() }).optional() });
const reminders = z.object({ reminders: z.array(z.object({ id: z.string(), task_id: z.string() })) });
const history = z.object({ events: z.array(z.object({ event_type: z.string() })) });
const due = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();

async function remindersOf(at: Place, who: Agent, taskId: string): Promise<readonly string[]> {
  const found = reminders.parse(await at.call(who, 'todo_list_reminders', { limit: 100 }));
  return found.reminders.filter((reminder) => reminder.task_id === taskId).map(({ id }) => id);
}

export const todoScenarios: readonly Scenario[] = [
  {
    name: 'to-dos',
    steps: ({ workspace, worker }) => {
      const tag = workspace.slice(-20);
      let [plain, recurs] = ['', ''];
      return [
        async (at) => {
          const draft = { title: `Report ${tag}`, description: 'For Ada', due_date: due(48), tags: [tag] };
          plain = one.parse(await at.call(worker, 'todo_add_task', draft)).task.id;
          await at.call(worker, 'todo_set_reminder', { task_id: plain, remind_at: due(30) });
          const daily = { title: `Daily ${tag}`, frequency: 'DAILY', start_date: due(24), tags: [tag] };
          recurs = recurring.parse(await at.call(worker, 'todo_create_recurring_task', daily)).first_occurrence.id;
        },
        async (at) => {
          await at.call(worker, 'todo_update_task', { task_id: plain, description: 'For Bob' });
          await at.call(worker, 'todo_set_task_priority', { task_id: plain, priority: 'HIGH' });
          const [first = ''] = await remindersOf(at, worker, plain);
          await at.call(worker, 'todo_snooze_reminder', { reminder_id: first, minutes: 2000 });
          const done = completed.parse(await at.call(worker, 'todo_complete_task', { task_id: recurs }));
          assert.ok(done.next_occurrence, 'completing an occurrence creates the next occurrence');
          recurs = done.next_occurrence.id;
        },
        async (at) => {
          const { tasks } = several.parse(await at.call(worker, 'todo_search_tasks', { query: `report ${tag}` }));
          const rows = tasks.map(({ id, priority }) => [id, priority]);
          assert.deepEqual(rows, [[plain, 'HIGH']]);
          const listed = several.parse(await at.call(worker, 'todo_filter_tasks', { tags: [tag] }));
          assert.ok([plain, recurs].every((id) => listed.tasks.some((task) => task.id === id)));
          await at.call(worker, 'todo_set_task_due_date', { task_id: plain, due_date: due(72) });
          await at.call(worker, 'todo_add_task_tags', { task_id: recurs, tags: ['seen'] });
          const done = completed.parse(await at.call(worker, 'todo_complete_task', { task_id: recurs }));
          recurs = String(done.next_occurrence?.id);
        },
        async (at) => {
          assert.ok((await remindersOf(at, worker, plain)).length > 0, 'the snoozed reminder is still listed');
          const done = one.parse(await at.call(worker, 'todo_complete_task', { task_id: plain }));
          assert.equal(done.task.completed, true);
          assert.deepEqual(await remindersOf(at, worker, plain), []);
          const { events } = history.parse(await at.call(worker, 'todo_get_task_history', { task_id: plain }));
          assert.ok(events.length >= 5, `${events.length} events in the history`);
          await at.call(worker, 'todo_delete_task', { task_id: recurs });
        },
      ];
    },
  },
];
