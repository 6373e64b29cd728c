/** Calls every todo tool once, and again in each further situation that changes the cost of the call. */
import { idOf } from '../load/client.ts';
import type { Cast, Ledger } from './costLedger.ts';

const DAY = 86_400_000;

/** More to-dos than one page of a list has. */
const TODOS = 15;

export async function playTodos({ worker }: Cast, ledger: Ledger): Promise<void> {
  const todo = (tool: string, args: object, situation?: string) => ledger.call(worker, `todo.${tool}`, args, situation);
  const due = (days: number) => new Date(Date.now() + days * DAY).toISOString();

  await todo('add_task', { title: 'Sometime' }, 'without a due date');
  const { task } = await todo('add_task', { title: 'Budget meeting', due_date: due(1) }, 'with a due date');
  const task_id = idOf(task);
  for (let number = 1; number < TODOS; number++)
    await worker.call('todo.add_task', { title: `Meeting ${number}`, due_date: due(number), tags: ['work'] });
  await todo('update_task', { task_id, description: 'In May' }, 'changes neither title nor due date');
  await todo('update_task', { task_id, title: 'Budget meeting in May' }, 'changes the title');
  await todo('set_task_priority', { task_id, priority: 'HIGH' });
  await todo('set_task_due_date', { task_id, due_date: due(2) });
  await todo('add_task_tags', { task_id, tags: ['money'] });

  await todo('list_tasks', {}, 'returns 10 to-dos, and reads one more');
  await todo('filter_tasks', { tags: ['work'], priority: 'MEDIUM' }, 'returns 10 to-dos, and reads one more');
  await todo('sort_tasks', { sort_by: 'due_date', sort_order: 'asc' }, 'returns 10 to-dos, and reads one more');
  await todo('search_tasks', { query: 'meeting' }, 'returns 10 to-dos, and reads one more');
  await todo('search_tasks', { query: 'budget meeting' }, 'one to-do has both words in its title');
  await todo('search_tasks', { query: 'meeting may nothing' }, 'no to-do has all three words');
  await todo('list_reminders', {}, 'returns 10 reminders, and reads one more');
  await todo('get_task_history', { task_id }, 'returns 6 events');
  await todo('set_reminder', { task_id, remind_at: due(1) });
  await todo('snooze_reminder', { reminder_id: task_id, minutes: 10 });
  await todo('delete_reminder', { reminder_id: task_id });

  const recurring = { title: 'Standup', frequency: 'DAILY', start_date: due(1) };
  const { recurring_task, first_occurrence } = await todo('create_recurring_task', recurring);
  const recurring_task_id = idOf(recurring_task);
  await todo('list_recurring_tasks', {}, 'returns the only recurring to-do');
  await todo('complete_task', { task_id: idOf(first_occurrence) }, 'of an occurrence: creates the next occurrence');
  await todo('reopen_task', { task_id: idOf(first_occurrence) }, 'of an occurrence: deletes the next occurrence');
  await todo('update_recurring_task', { recurring_task_id, title: 'Stand-up' });
  await todo('delete_recurring_task', { recurring_task_id });
  await todo('complete_task', { task_id }, 'of any other to-do');
  await todo('reopen_task', { task_id }, 'of any other to-do');
  await todo('delete_task', { task_id });
  await todo('add_task', { title: 'Water', when: 'every second Monday 9:00' }, 'a repetition in words');
}
