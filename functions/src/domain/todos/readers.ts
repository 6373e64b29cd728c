/** How the to-dos' services read. */
import type { TaskEvent } from '../events/event.ts';
import type { JsonObject } from '../json.ts';
import type { Page, Slice } from '../readers.ts';
import type { Reminder } from '../reminders/reminder.ts';
import type { Versioned } from '../store.ts';
import type { TodoFilter, TodoPage, TodoPlace, TodoSort } from './query.ts';
import type { RecurringTask } from './recurringTask.ts';
import type { Todo } from './todo.ts';

/** A to-do with its reminder, where it has one. */
export interface RemindedTodo extends Versioned<Todo> {
  readonly reminder?: Versioned<Reminder>;
  /** As the last event told of it; undefined where none has. */
  readonly recorded?: JsonObject;
}

/** A to-do that somebody may have changed past the tools. */
export interface EditedTodo extends RemindedTodo {
  /** Whether the fields that are made from others are as they should be. */
  readonly isDerived: boolean;
}

export interface FoundTodos {
  readonly todos: readonly Todo[];
  /** How many match in all. */
  readonly total: number;
  /** Where the list goes on, if it does. */
  readonly next?: TodoPlace;
}

export interface TodoReader {
  find(id: string): Promise<Versioned<Todo> | undefined>;
  findReminded(id: string): Promise<RemindedTodo | undefined>;
  findEdited(id: string): Promise<EditedTodo | undefined>;
  /** The to-do that has a title and due date for itself. */
  findGuard(id: string): Promise<Versioned<string> | undefined>;
  list(filter: TodoFilter, sort: TodoSort, page: TodoPage): Promise<FoundTodos>;
  /**
   * Those that have all words, each as the beginning of one, in title and description: first those that have
   * them all in the title. A page has the newer before the older of each kind.
   * @param words of soughtPrefixes
   */
  search(ownerUid: string, words: readonly string[], page: TodoPage): Promise<FoundTodos>;
}

export interface RecurringTaskReader {
  find(id: string): Promise<Versioned<RecurringTask> | undefined>;
  /** Newest first. */
  list(
    ownerUid: string,
    withEnded: boolean,
    page: Page,
  ): Promise<Slice<RecurringTask> & { readonly total: number }>;
}

export interface TaskHistory {
  find(id: string): Promise<TaskEvent | undefined>;
  /** What happened to a to-do, newest first. */
  history(ownerUid: string, taskId: string, page: Page): Promise<Slice<TaskEvent>>;
}
