/** What to-dos are read by, and whom their events and reminders are told through. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type {
  Deliveries,
  Devices,
  Inbox,
  MailQueue,
  People,
  PreferenceReader,
  PushService,
} from './notifications.ts';
import type { AuditTrail, DeadLetters, EventPublisher, EventReader, TaskUpdates } from './outbox.ts';
import type { ReminderReader } from './reminder.ts';
import type { RecurringTaskReader, TaskHistory, TodoReader } from './todoChanges.ts';

export interface TodoPorts extends AccessPorts {
  readonly todos: TodoReader;
  readonly recurringTasks: RecurringTaskReader;
  readonly taskHistory: TaskHistory;
  readonly reminders: ReminderReader;
  readonly preferences: PreferenceReader;
  readonly taskEvents: EventReader;
  readonly auditTrail: AuditTrail;
  readonly taskUpdates: TaskUpdates;
  /** Absent on a machine without a broker: events are handed straight on. */
  readonly publisher: EventPublisher | undefined;
  readonly deadLetters: DeadLetters;
  readonly inbox: Inbox;
  readonly devices: Devices;
  readonly deliveries: Deliveries;
  readonly people: People;
  readonly mail: MailQueue;
  /** Absent where nobody's devices can be told of a reminder. */
  readonly push: PushService | undefined;
}
