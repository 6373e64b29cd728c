/** To-dos to begin a test with. */
import type { RecurringTask } from '../../../functions/src/toolsets/todo/rules/recurrenceRule.ts';
import type { Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { START } from '../samples.ts';

export function sampleTodo(changes: Partial<Todo> = {}): Todo {
  return {
    id: 'todo-1',
    ownerUid: 'owner-1',
    title: 'Finish the presentation',
    priority: 'MEDIUM',
    tags: [],
    completed: false,
    createdAt: START,
    ...changes,
  };
}

export function sampleRecurringTask(changes: Partial<RecurringTask> = {}): RecurringTask {
  return {
    id: 'recurring-1',
    ownerUid: 'owner-1',
    title: 'Check emails',
    priority: 'MEDIUM',
    tags: [],
    frequency: 'DAILY',
    anchor: START,
    timezone: 'UTC',
    createdAt: START,
    latestOn: '2030-01-01',
    latestDue: START,
    ...changes,
  };
}
