/** Interfaces between the to-do rules and storage. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { ConsoleLinks } from '../../../kernel/consoleLinks.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import type { ListCursor, ListPage, PageRequest, SweepBatch } from '../../../kernel/paging.ts';
import type { ExpiringStore } from '../../../kernel/sweep.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { RecurringTask } from './recurring/recurrenceRule.ts';
import type { Device, Notification, PushService } from './reminders/notification.ts';
import type { Preferences, Reminder, ReminderChanges } from './reminders/reminder.ts';
import type { DeadLetters, EventChanges, TaskEvent } from './taskEvent.ts';
import type { RemindedTodo, Todo, TodoFilter, TodoSort } from './todo.ts';

export interface TodoPorts extends AccessPorts, GraphPorts {
  readonly store: Store<TodoChange>;
  readonly todos: TodoQueries;
  /** Fields of to-dos, recurring to-dos and reminders that the audit log records. */
  readonly todoFields: FieldsCodec<Todo>;
  readonly recurringTaskFields: FieldsCodec<RecurringTask>;
  readonly reminderFields: FieldsCodec<Reminder>;
  readonly recurringTasks: RecurringTaskQueries;
  readonly taskHistory: TaskHistory;
  readonly reminders: ReminderQueries;
  /** Records the arrival of an event once. @param digest SHA-256 of the event's canonical JSON */
  readonly recordArrival: (event: TaskEvent, digest: string, recordedAt: Date) => Promise<void>;
  readonly notifications: Notifications;
  readonly clientLists: ClientLists;
  readonly deadLetters: DeadLetters;
  readonly devices: Devices;
  readonly deliveries: Deliveries;
  readonly verifiedEmail: (uid: string) => Promise<string | undefined>;
  readonly consoleLinks: ConsoleLinks;
  /** Undefined if push is disabled. */
  readonly push: PushService | undefined;
}

export interface Counted<Item> extends ListPage<Item> {
  readonly total: number;
}

export interface TaskHistory {
  /** @throws Error if the document of this id is not an event */
  find(id: string): Promise<TaskEvent | undefined>;
  /** Returns a to-do's events, newest first. */
  history(ownerUid: string, taskId: string, page: PageRequest): Promise<ListPage<TaskEvent>>;
}

export interface ReminderQueries {
  find(id: string): Promise<Versioned<Reminder> | undefined>;
  /** Returns reminders that are due at `now`, oldest first, and the cursor of the next page. */
  due(now: Date, page: PageRequest): Promise<SweepBatch<Versioned<Reminder>>>;
  /** Returns unsent reminders after `after`, soonest first. If `after` is undefined, returns all, latest first. */
  list(ownerUid: string, after: Date | undefined, page: PageRequest): Promise<Counted<Reminder>>;
}

export interface RecurringTaskQueries {
  find(id: string): Promise<Versioned<RecurringTask> | undefined>;
  /** Returns a person's recurring to-dos, newest first. */
  list(ownerUid: string, withEnded: boolean, page: PageRequest): Promise<Counted<RecurringTask>>;
}

export interface TodoPage {
  readonly limit: number;
  readonly after?: ListCursor | undefined;
}

export interface FoundTodos {
  readonly todos: readonly Todo[];
  readonly total: number;
  readonly next?: ListCursor;
}

export interface TodoQueries {
  find(id: string): Promise<Versioned<Todo> | undefined>;
  /** Returns to-dos in the order of `ids`, undefined for each unknown id. @throws MusterError if one is unreadable */
  findAll(ids: readonly string[]): Promise<readonly (Versioned<Todo> | undefined)[]>;
  findReminded(id: string): Promise<RemindedTodo | undefined>;
  /** Returns the id of the to-do that holds the guard with this id. */
  findGuard(id: string): Promise<Versioned<string> | undefined>;
  list(filter: TodoFilter, sort: TodoSort, todoPage: TodoPage): Promise<FoundTodos>;
  /** Returns to-dos with all word prefixes, matches in titles first. @param words from `searchPrefixes` */
  search(ownerUid: string, words: readonly string[], page: TodoPage): Promise<FoundTodos>;
}

export interface ClientLists {
  putNotification(notification: Notification): Promise<void>;
  putTaskUpdate(event: TaskEvent): Promise<void>;
}

export interface Devices {
  of(uid: string): Promise<readonly Device[]>;
  /** Deletes the device, unless its token has changed since it was read. */
  remove(uid: string, device: Device): Promise<void>;
}

export interface Deliveries extends ExpiringStore {
  /** Returns `busy` while another sender's claim is valid. */
  claim(notificationId: string, deviceId: string): Promise<'claimed' | 'busy' | 'delivered'>;
  markDelivered(notificationId: string, deviceId: string): Promise<void>;
  release(notificationId: string, deviceId: string): Promise<void>;
}

export interface Notifications {
  /** Returns a person's stored preferences, or the defaults. */
  preferences(uid: string): Promise<Preferences>;
  /** Queues an email once, for https://extensions.dev/extensions/firebase/firestore-send-email, which sends it. */
  queueEmail(address: string, notification: Notification): Promise<void>;
}

export interface TodoChanges {
  readonly createTodo: { readonly todo: Todo };
  /** `before` is the state of the to-do that its last event reported. */
  readonly replaceTodo: { readonly todo: Todo; readonly before: Todo; readonly version: string };
  readonly deleteTodo: { readonly todo: Todo; readonly version: string };
  /** Stores which task was created for the to-do. */
  readonly delegateTodo: { readonly before: Todo; readonly todo: Todo; readonly version: string };
  /** Stores the guard of an open to-do. `replaces` is the version of an obsolete guard with the same id. */
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
