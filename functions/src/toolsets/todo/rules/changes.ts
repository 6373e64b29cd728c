/** What commits of to-dos may change. */

import type { ChangeOf } from '../../../kernel/commit.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { RecurringTask } from './recurrenceRule.ts';
import type { ReminderChanges } from './reminder.ts';
import type { EventChanges } from './taskEvent.ts';
import type { Todo } from './todo.ts';

/** What commits may change of to-dos, their titles and recurring tasks. */
export interface TodoChanges {
  readonly createTodo: { readonly todo: Todo };
  /** `before` as its last event reported it. */
  readonly replaceTodo: { readonly todo: Todo; readonly before: Todo; readonly version: string };
  readonly deleteTodo: { readonly todo: Todo; readonly version: string };
  /** A task was made of it. */
  readonly delegateTodo: { readonly before: Todo; readonly todo: Todo; readonly version: string };
  /** Keeps a title and due date for one open to-do; `replaces` is the version of one that is no longer open. */
  readonly reserveTitle: { readonly id: string; readonly taskId: string; readonly replaces?: string };
  readonly releaseTitle: { readonly id: string; readonly version: string };
  readonly createRecurringTask: { readonly recurringTask: RecurringTask };
  readonly replaceRecurringTask: {
    readonly recurringTask: RecurringTask;
    readonly before: RecurringTask;
    readonly version: string;
  };
}

export type TodoChange = ChangeOf<TodoChanges & EventChanges & ReminderChanges> | CoordinationChange;
