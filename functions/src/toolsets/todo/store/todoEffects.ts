/** What the trail tells of to-dos, recurring tasks and reminders that somebody sets; titles and events follow from them. */
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Effect } from '../../../kernel/trail.ts';
import type { TodoChanges } from '../rules/ports.ts';
import type { RecurringTask } from '../rules/recurrenceRule.ts';
import { type Reminder, type ReminderChanges, reminderFields } from '../rules/reminder.ts';
import { type Todo, todoFields } from '../rules/todo.ts';
import { recurringTaskFields } from './reminders.ts';

/** What the trail tells of, and back. */
export const fieldsOfTodos = { todoFields, recurringTaskFields, reminderFields };

const ofTodo = ({ id, ownerUid }: Todo) => ({ kind: 'todo', id, ownerUid });

const ofRecurring = ({ id, ownerUid }: RecurringTask) => ({ kind: 'recurring_task', id, ownerUid });

const ofReminder = ({ id, ownerUid }: Reminder) => ({ kind: 'reminder', id, ownerUid });

export const todoEffects: EffectsOf<TodoChanges & ReminderChanges> = {
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
  setReminder: ({ reminder, before }): Effect => ({
    ...ofReminder(reminder),
    ...(before && { before: reminderFields.of(before.value) }),
    after: reminderFields.of(reminder),
  }),
  dropReminder: ({ before: { value } }): Effect => ({
    ...ofReminder(value),
    before: reminderFields.of(value),
  }),
};
