/** What the trail tells of to-dos and recurring tasks: their reminders, titles and events follow from them. */
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Effect } from '../../../kernel/trail.ts';
import type { RecurringTask } from '../rules/recurrenceRule.ts';
import type { Todo } from '../rules/todo.ts';
import type { TodoChanges } from '../rules/todoChanges.ts';
import { recurringTaskToDocument } from './reminders.ts';
import { todoFieldsOf } from './todoDocument.ts';

const ofTodo = ({ id, ownerUid }: Todo) => ({ kind: 'todo', id, ownerUid });

const ofRecurring = ({ id, ownerUid }: RecurringTask) => ({ kind: 'recurring_task', id, ownerUid });

export const todoEffects: EffectsOf<TodoChanges> = {
  createTodo: ({ todo }): Effect => ({ ...ofTodo(todo), after: todoFieldsOf(todo) }),
  replaceTodo: ({ todo, before }): Effect => ({
    ...ofTodo(todo),
    before: todoFieldsOf(before),
    after: todoFieldsOf(todo),
  }),
  deleteTodo: ({ todo }): Effect => ({ ...ofTodo(todo), before: todoFieldsOf(todo) }),
  createRecurringTask: ({ recurringTask }): Effect => ({
    ...ofRecurring(recurringTask),
    after: recurringTaskToDocument(recurringTask),
  }),
  replaceRecurringTask: ({ recurringTask, before }): Effect => ({
    ...ofRecurring(recurringTask),
    before: recurringTaskToDocument(before),
    after: recurringTaskToDocument(recurringTask),
  }),
};
