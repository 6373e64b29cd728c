/** Many to-dos of one owner, with their reminders, recurring tasks and events. */

import type { Change } from '../../../functions/src/composition/changes.ts';

import { reminderAt } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { PRIORITIES, type Todo, todoResponse } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { todoEvent } from '../../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { sampleRecurringTask, sampleTodo } from '../../support/builders.ts';
import type { Team } from '../coordination/team.ts';

const HOUR = 3_600_000;

/** Number of changes per commit. */
const BATCH = 200;

/** Titles that repeat. Several to-dos contain the words of a query in the title, or in title and description. */
const TITLES = ['Budget meeting', 'Meeting notes', 'Budget review', 'Call the plumber'];
const DESCRIPTIONS = ['For the quarter', 'Of the budget', 'Before the meeting in May', undefined];

/** Returns the to-do with this number. Every third to-do is completed, and every fifth has no due date. */
export function crowdTodo(team: Team, number: number): Todo {
  const description = DESCRIPTIONS[(number >> 2) % DESCRIPTIONS.length];
  const createdAt = new Date(team.now.getTime() - number * HOUR);
  const isDone = number % 3 === 0;
  return sampleTodo({
    id: `${team.workspace}-${number}`,
    owner_uid: team.leader.owner_uid,
    title: `${TITLES[number % TITLES.length]} ${number}`,
    ...(description !== undefined && { description }),
    ...(number % 5 !== 0 && { due_date: new Date(team.now.getTime() + (number + 1) * HOUR) }),
    priority: PRIORITIES[number % PRIORITIES.length] ?? 'LOW',
    tags: ['work', number % 2 === 0 ? 'even' : 'odd'],
    completed: isDone,
    ...(isDone && { completed_at: createdAt }),
    created_at: createdAt,
  });
}

/**
 * Stores `count` to-dos, `count` reminders, `count` recurring tasks, and `count` events of the first to-do.
 * @returns the to-dos
 */
export async function crowdTodos(team: Team, count: number): Promise<readonly Todo[]> {
  const todos = Array.from({ length: count }, (_, number) => crowdTodo(team, number));
  const [first] = todos;
  const changes = todos.flatMap((todo, number): Change[] => [
    { kind: 'createTodo', todo },
    { kind: 'createReminder', reminder: reminderAt(todo, new Date(team.now.getTime() + (number + 1) * HOUR)) },
    {
      kind: 'createRecurringTask',
      recurringTask: sampleRecurringTask({ id: `${todo.id}-again`, owner_uid: todo.owner_uid }),
    },
    ...(first ? [happened(first, `${todo.id}-event`, new Date(team.now.getTime() - number * HOUR))] : []),
  ]);
  for (let at = 0; at < changes.length; at += BATCH) await team.app.kernel.store.commit(changes.slice(at, at + BATCH));
  return todos;
}

function happened(todo: Todo, eventId: string, now: Date): Change {
  return { kind: 'recordEvent', event: todoEvent(null, todo, todoResponse(todo), { eventId, now }) };
}
