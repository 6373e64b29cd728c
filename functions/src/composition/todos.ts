/** Composes to-dos and their reminders: what they are read by, what repairs them, and who is told of their events. */
import { firebaseApp } from '../adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { FirebasePeople } from '../adapters/auth/people.ts';
import { DatabaseDeliveries } from '../adapters/database/deliveries.ts';
import { DatabaseDevices } from '../adapters/database/devices.ts';
import { DatabaseInbox } from '../adapters/database/inbox.ts';
import { DatabaseTaskUpdates } from '../adapters/database/taskUpdates.ts';
import { FirestoreAuditTrail } from '../adapters/firestore/auditTrail.ts';
import { FirestoreEventReader } from '../adapters/firestore/eventReader.ts';
import { FirestoreMailQueue } from '../adapters/firestore/mailQueue.ts';
import { FirestorePreferenceReader } from '../adapters/firestore/preferenceReader.ts';
import { FirestoreRecurringTaskReader } from '../adapters/firestore/recurringTaskReader.ts';
import { FirestoreReminderReader } from '../adapters/firestore/reminderReader.ts';
import { FirestoreTaskHistory } from '../adapters/firestore/taskHistory.ts';
import { todoFromRecord } from '../adapters/firestore/todoDocument.ts';
import { FirestoreTodoReader } from '../adapters/firestore/todoReader.ts';
import { localMessagingApp } from '../adapters/messaging/localApp.ts';
import { FcmPushService } from '../adapters/messaging/pushService.ts';
import { PubSubPublisher } from '../adapters/pubsub/publisher.ts';
import { hasPubSub, pushService } from '../config.ts';
import { audit } from '../domain/events/audit.ts';
import { EventConsumer } from '../domain/events/consumer.ts';
import { DirectDelivery } from '../domain/events/directDelivery.ts';
import { TOPICS, type Topic } from '../domain/events/event.ts';
import { EventRelay } from '../domain/events/relay.ts';
import { Notifier } from '../domain/notifications/notifier.ts';
import type { PushService } from '../domain/notifications/ports.ts';
import { ReminderSending } from '../domain/reminders/sending.ts';
import { ReminderService } from '../domain/reminders/service.ts';
import type { TodoPorts } from '../domain/todos/ports.ts';
import { RecurringTasks } from '../domain/todos/recurring.ts';
import { TodoRepair } from '../domain/todos/repair.ts';
import { TodoService } from '../domain/todos/service.ts';
import { unlessUnreadable } from '../domain/unreadable.ts';
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
    taskEvents: new FirestoreEventReader(database, documents),
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
  const repair = new TodoRepair(ports);
  const consumers = eventConsumers(ports);
  return {
    todos: new TodoService(ports),
    recurringTasks: new RecurringTasks(ports),
    reminders: new ReminderService(ports),
    reminderSending: new ReminderSending(ports),
    consumers,
    relay: new EventRelay(ports, ports.publisher ?? new DirectDelivery(consumers)),
    /**
     * Repairs a to-do; `before` is the document as it was before it was written, where it was there. What becomes
     * readable again is written, and so is repaired again.
     */
    repairTodo: (todoId: string, before: unknown): Promise<void> =>
      unlessUnreadable(repair.repair(todoId, todoFromRecord(before))),
  };
}

function eventConsumers(ports: TodoPorts): Readonly<Record<Topic, EventConsumer>> {
  const notifier = new Notifier(ports);
  return {
    [TOPICS.taskEvents]: new EventConsumer('audit', (event) => audit(event, ports), ports),
    [TOPICS.taskUpdates]: new EventConsumer('mirror', (event) => ports.taskUpdates.show(event), ports),
    [TOPICS.reminders]: new EventConsumer('notifier', (event) => notifier.notify(event), ports),
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
