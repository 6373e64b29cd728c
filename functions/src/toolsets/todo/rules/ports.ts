/** What the rules of to-dos read and write through. */
import type { AccessPorts } from '../../../access/rules/principal.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { ConsoleLinks } from '../../../kernel/consoleLinks.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import type { FieldsCodec } from '../../../kernel/trail.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { FirestoreTaskHistory, recordArrivalIn } from '../store/events.ts';
import type {
  DatabaseClientLists,
  DatabaseDeliveries,
  DatabaseDevices,
  FirestoreNotifications,
} from '../store/notifications.ts';
import type { RecurringTaskQueries, Reminder, ReminderQueries } from '../store/reminders.ts';
import type { TodoQueries } from '../store/todos.ts';
import type { PushService } from './notifications.ts';
import type { DeadLetters, EventPublisher } from './outbox.ts';
import type { RecurringTask } from './recurrenceRule.ts';
import type { Todo } from './todo.ts';

/** The tasks of the queue, for those that were made of to-dos. */
export type DelegationTasks = CoordinationPorts['tasks'];

export interface TodoPorts extends AccessPorts, GraphPorts {
  readonly todos: PortOf<TodoQueries>;
  /** To-dos, recurring tasks and reminders as the trail tells of them. */
  readonly todoFields: FieldsCodec<Todo>;
  readonly recurringTaskFields: FieldsCodec<RecurringTask>;
  readonly reminderFields: FieldsCodec<Reminder>;
  readonly recurringTasks: PortOf<RecurringTaskQueries>;
  readonly taskHistory: PortOf<FirestoreTaskHistory>;
  readonly reminders: PortOf<ReminderQueries>;
  readonly recordArrival: ReturnType<typeof recordArrivalIn>;
  readonly notifications: PortOf<FirestoreNotifications>;
  readonly clientLists: PortOf<DatabaseClientLists>;
  /** Absent on a machine without a broker: events are handed straight on. */
  readonly publisher: EventPublisher | undefined;
  readonly deadLetters: DeadLetters;
  readonly devices: PortOf<DatabaseDevices>;
  readonly deliveries: PortOf<DatabaseDeliveries>;
  /** The person's address, where it is theirs for certain. */
  readonly verifiedEmail: (uid: string) => Promise<string | undefined>;
  readonly consoleLinks: ConsoleLinks;
  /** Absent where nobody's devices can be told of a reminder. */
  readonly push: PushService | undefined;
}
