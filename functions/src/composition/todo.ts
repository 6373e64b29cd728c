/** Composes to-dos and their reminders: what they are read by, what repairs them, and who is told of their events. */
import { hasPubSub, pushService } from '../config.ts';
import { firebaseApp } from '../kernel/firebaseApp.ts';
import { unlessUnreadable } from '../kernel/ports.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { notify, type PushService } from '../toolsets/todo/rules/notifications.ts';
import {
  audit,
  directDelivery,
  EventConsumer,
  relayEvent,
  TOPICS,
  type Topic,
} from '../toolsets/todo/rules/outbox.ts';
import type { TodoPorts } from '../toolsets/todo/rules/ports.ts';
import { RecurringTasks } from '../toolsets/todo/rules/recurringTasks.ts';
import { ReminderSending, ReminderService } from '../toolsets/todo/rules/reminders.ts';
import { repairTodo } from '../toolsets/todo/rules/repair.ts';
import { TodoService } from '../toolsets/todo/rules/todos.ts';
import { FirestoreAuditTrail, FirestoreTaskHistory } from '../toolsets/todo/store/events.ts';
import {
  DatabaseDeliveries,
  DatabaseDevices,
  DatabaseInbox,
  DatabaseTaskUpdates,
  FirebasePeople,
  FirestoreMailQueue,
  FirestorePreferenceReader,
} from '../toolsets/todo/store/notifications.ts';
import { FirestoreRecurringTaskReader, FirestoreReminderReader } from '../toolsets/todo/store/reminders.ts';
import { todoFromRecord } from '../toolsets/todo/store/todoDocument.ts';
import { FirestoreTodoReader } from '../toolsets/todo/store/todos.ts';
import { FcmPushService, localMessagingApp } from '../vendors/fcm/pushService.ts';
import { PubSubPublisher } from '../vendors/pubsub/publisher.ts';
import type { Foundation } from './foundation.ts';

export interface TodoBindings {
  /** Where people's devices are told of reminders. Absent: nowhere. */
  readonly push?: PushService | undefined;
}

export function todoPorts({ database, documents, clock, randomness }: Foundation, { push }: TodoBindings) {
  const broker = new PubSubPublisher();
  return {
    todos: new FirestoreTodoReader(database, documents),
    recurringTasks: new FirestoreRecurringTaskReader(database, documents),
    taskHistory: new FirestoreTaskHistory(database, documents),
    reminders: new FirestoreReminderReader(database, documents),
    preferences: new FirestorePreferenceReader(database, documents),
    auditTrail: new FirestoreAuditTrail(database),
    taskUpdates: new DatabaseTaskUpdates(realtimeDatabase),
    publisher: hasPubSub() ? broker : undefined,
    deadLetters: broker,
    inbox: new DatabaseInbox(realtimeDatabase),
    devices: new DatabaseDevices(realtimeDatabase),
    deliveries: new DatabaseDeliveries(realtimeDatabase, clock, randomness),
    people: new FirebasePeople(firebaseApp),
    mail: new FirestoreMailQueue(database),
    push,
  };
}

export function todoServices(ports: TodoPorts) {
  const consumers = eventConsumers(ports);
  const publisher = ports.publisher ?? directDelivery(consumers);
  return {
    todos: new TodoService(ports),
    recurringTasks: new RecurringTasks(ports),
    reminders: new ReminderService(ports),
    reminderSending: new ReminderSending(ports),
    consumers,
    relayEvent: (eventId: string) => relayEvent(ports, publisher, eventId),
    /**
     * Repairs a to-do; `before` is the document as it was before it was written, where it was there. What becomes
     * readable again is written, and so is repaired again.
     */
    repairTodo: (todoId: string, before: unknown): Promise<void> =>
      unlessUnreadable(repairTodo(ports, todoId, todoFromRecord(before))),
  };
}

function eventConsumers(ports: TodoPorts): Readonly<Record<Topic, EventConsumer>> {
  return {
    [TOPICS.taskEvents]: new EventConsumer('audit', (event) => audit(event, ports), ports),
    [TOPICS.taskUpdates]: new EventConsumer('mirror', (event) => ports.taskUpdates.show(event), ports),
    [TOPICS.reminders]: new EventConsumer('notifier', (event) => notify(ports, event), ports),
  };
}

/** Firebase's, or the one that a machine has. */
export function composePush(): PushService | undefined {
  const service = pushService();
  if (service === 'none') return undefined;
  return new FcmPushService(
    service === 'firebase' ? async () => firebaseApp() : () => localMessagingApp(service.url),
  );
}
