import type { Delegation } from './rules/delegation.ts';
import type { RecurringTasks } from './rules/recurringTasks.ts';
import type { ReminderService } from './rules/reminders.ts';
import type { TodoService } from './rules/todos.ts';

/** What the tools ask. */
export interface TodoServices {
  readonly todos: TodoService;
  readonly delegation: Delegation;
  readonly recurringTasks: RecurringTasks;
  readonly reminders: ReminderService;
}
