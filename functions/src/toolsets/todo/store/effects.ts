/** What the trail tells of to-dos and recurring tasks: their reminders, titles and events follow from them. */
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Effect } from '../../../kernel/trail.ts';
import type { RecurringTask } from '../rules/recurrenceRule.ts';
import type { Todo } from '../rules/todo.ts';
import type { TodoChanges } from '../rules/todoChanges.ts';
import { recurringTaskFields } from './reminders.ts';
import { todoFields } from './todoDocument.ts';

const ofTodo = ({ id, ownerUid }: Todo) => ({ kind: 'todo', id, ownerUid });

const ofRecurring = ({ id, ownerUid }: RecurringTask) => ({ kind: 'recurring_task', id, ownerUid });

export const todoEffects: EffectsOf<TodoChanges> = {
  createTodo: ({ todo }): Effect => ({ ...ofTodo(todo), after: todoFields.of(todo) }),
  replaceTodo: ({ todo, before }): Effect => ({
    ...ofTodo(todo),
    before: todoFields.of(before),
    after: todoFields.of(todo),
  }),
  delegateTodo: ({ todo, before }): Effect => ({
    ...ofTodo(todo),
    before: todoFields.of(before),
    after: todoFields.of(todo),
  }),
  deleteTodo: ({ todo }): Effect => ({ ...ofTodo(todo), before: todoFields.of(todo) }),
  createRecurringTask: ({ recurringTask }): Effect => ({
    ...ofRecurring(recurringTask),
    after: recurringTaskFields.of(recurringTask),
  }),
  replaceRecurringTask: ({ recurringTask, before }): Effect => ({
    ...ofRecurring(recurringTask),
    before: recurringTaskFields.of(before),
    after: recurringTaskFields.of(recurringTask),
  }),
};
