/** What the rules of to-dos read and write through. */

import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { ConsoleLinks } from '../../../kernel/consoleLinks.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import type { Page, Place, Position, Slice } from '../../../kernel/paging.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type { RecurringTask } from './recurring/recurrenceRule.ts';
import type { Device, Notification, PushService } from './reminders/notification.ts';
import type { Reminder, ReminderChanges } from './reminders/reminder.ts';
import type { DeadLetters, EventChanges, EventPublisher, TaskEvent } from './taskEvent.ts';
import type { RemindedTodo, Todo, TodoFilter, TodoSort } from './todo.ts';

export type DelegationTasks = CoordinationPorts['tasks'];

export interface TodoPorts extends AccessPorts, GraphPorts {
  readonly store: Store<TodoChange>;
  readonly todos: TodoQueries;
  /** To-dos, recurring tasks and reminders as the trail tells of them. */
  readonly todoFields: FieldsCodec<Todo>;
  readonly recurringTaskFields: FieldsCodec<RecurringTask>;
  readonly reminderFields: FieldsCodec<Reminder>;
  readonly recurringTasks: RecurringTaskQueries;
  readonly taskHistory: TaskHistory;
  readonly reminders: ReminderQueries;
  /** Recorded once. @param digest SHA-256 of the event's canonical JSON: an event that was changed since has another */
  readonly recordArrival: (event: TaskEvent, digest: string, recordedAt: Date) => Promise<void>;
  readonly notifications: Notifications;
  readonly clientLists: ClientLists;
  /** Absent on a machine without a broker: events are handed straight on. */
  readonly publisher: EventPublisher | undefined;
  readonly deadLetters: DeadLetters;
  readonly devices: Devices;
  readonly deliveries: Deliveries;
  /** The person's address, where it is theirs for certain. */
  readonly verifiedEmail: (uid: string) => Promise<string | undefined>;
  readonly consoleLinks: ConsoleLinks;
  /** Absent where nobody's devices can be told of a reminder. */
  readonly push: PushService | undefined;
}

/** Reminders that are to be sent, and after which place there are more. */
export interface DueReminders {
  readonly reminders: readonly Versioned<Reminder>[];
  readonly next?: Position;
}

/** How a person is told of things. */
export interface Preferences {
  /** How long before its due date they are reminded of a to-do. */
  readonly leadMilliseconds: number;
  /** The ids of the agents that may answer questions for them. */
  readonly agents_may_answer: readonly string[];
  readonly push: boolean;
  readonly email: boolean;
}

export interface Counted<Item> extends Slice<Item> {
  readonly total: number;
}

export interface TaskHistory {
  /** @throws Error where there is a document of this id that is no event */
  find(id: string): Promise<TaskEvent | undefined>;
  /** What happened to a to-do, newest first. */
  history(ownerUid: string, taskId: string, page: Page): Promise<Slice<TaskEvent>>;
}

export interface ReminderQueries {
  find(id: string): Promise<Versioned<Reminder> | undefined>;
  /** Those that are to be sent by `now`, longest ago first, and after which place there are more. */
  due(now: Date, page: Page): Promise<DueReminders>;
  /** A person's: those that are still to be sent after an instant, the next first; or all, the latest first. */
  list(ownerUid: string, after: Date | undefined, page: Page): Promise<Counted<Reminder>>;
}

export interface RecurringTaskQueries {
  find(id: string): Promise<Versioned<RecurringTask> | undefined>;
  /** Newest first. */
  list(ownerUid: string, withEnded: boolean, page: Page): Promise<Counted<RecurringTask>>;
}

export interface TodoPage {
  readonly limit: number;
  readonly after?: Place | undefined;
}

export interface FoundTodos {
  readonly todos: readonly Todo[];
  readonly total: number;
  readonly next?: Place;
}

export interface TodoQueries {
  find(id: string): Promise<Versioned<Todo> | undefined>;
  /** Returns to-dos in the order of their ids, undefined for an unknown one. @throws MusterError if one is unreadable */
  findAll(ids: readonly string[]): Promise<readonly (Versioned<Todo> | undefined)[]>;
  findReminded(id: string): Promise<RemindedTodo | undefined>;
  /** The to-do that has a title and due date for itself. */
  findGuard(id: string): Promise<Versioned<string> | undefined>;
  list(filter: TodoFilter, sort: TodoSort, todoPage: TodoPage): Promise<FoundTodos>;
  /**
   * Those that have all words, each as the beginning of one, in title and description: first those that have
   * them all in the title. A page has the newer before the older of each kind.
   * @param words of soughtPrefixes
   */
  search(ownerUid: string, words: readonly string[], page: TodoPage): Promise<FoundTodos>;
}

export interface ClientLists {
  putNotification(notification: Notification): Promise<void>;
  putTaskUpdate(event: TaskEvent): Promise<void>;
}

export interface Devices {
  of(uid: string): Promise<readonly Device[]>;
  /** Forgets the device, unless it has another token by now. */
  forget(uid: string, device: Device): Promise<void>;
}

export interface Deliveries {
  readonly name: 'deliveries';
  /** `busy`: another sender has claimed it, until their lease ends. */
  claim(notificationId: string, deviceId: string): Promise<'claimed' | 'busy' | 'delivered'>;
  markDelivered(notificationId: string, deviceId: string): Promise<void>;
  release(notificationId: string, deviceId: string): Promise<void>;
  expire(): Promise<number>;
}

export interface Notifications {
  /** The defaults, where the person has not said anything. */
  preferences(uid: string): Promise<Preferences>;
  /** Queued once. Source: https://extensions.dev/extensions/firebase/firestore-send-email, Firebase's extension Trigger Email */
  queueMail(address: string, notification: Notification): Promise<void>;
}

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
