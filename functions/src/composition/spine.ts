/** Composes the event spine: events from the outbox to whoever takes them, and the schedule that makes some. */

import { firebaseApp } from '../adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { FirebasePeople } from '../adapters/auth/people.ts';
import { DatabaseDeliveries } from '../adapters/database/deliveries.ts';
import { DatabaseDevices } from '../adapters/database/devices.ts';
import { DatabaseInbox } from '../adapters/database/inbox.ts';
import { DatabaseTaskUpdates } from '../adapters/database/taskUpdates.ts';
import { FirestoreAuditTrail } from '../adapters/firestore/auditTrail.ts';
import type { Firestore } from '../adapters/firestore/client.ts';
import { FirestoreMailQueue } from '../adapters/firestore/mailQueue.ts';
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
import type { PreferenceReader, PushService } from '../domain/notifications/ports.ts';
import type { Hashing, Randomness } from '../domain/ports.ts';
import { ReminderSending } from '../domain/reminders/sending.ts';
import { type ReminderDependencies, ReminderService } from '../domain/reminders/service.ts';

type SpinePorts = ConstructorParameters<typeof ReminderSending>[0] & {
  readonly preferences: PreferenceReader;
  readonly hashing: Hashing;
  readonly randomness: Randomness;
  readonly push: PushService | undefined;
};

export function composeSpine(database: Firestore, ports: SpinePorts) {
  const broker = new PubSubPublisher();
  const auditTrail = new FirestoreAuditTrail(database);
  const taskUpdates = new DatabaseTaskUpdates(realtimeDatabase);
  const deliveries = new DatabaseDeliveries(realtimeDatabase, ports.clock, ports.randomness);
  const notifier = new Notifier({
    ...ports,
    deliveries,
    inbox: new DatabaseInbox(realtimeDatabase),
    devices: new DatabaseDevices(realtimeDatabase),
    people: new FirebasePeople(firebaseApp),
    mail: new FirestoreMailQueue(database),
  });
  const consuming = { ...ports, deadLetters: broker };
  const consumers: Readonly<Record<Topic, EventConsumer>> = {
    [TOPICS.taskEvents]: new EventConsumer(
      'audit',
      (event) => audit(event, { ...ports, auditTrail }),
      consuming,
    ),
    [TOPICS.taskUpdates]: new EventConsumer('mirror', (event) => taskUpdates.show(event), consuming),
    [TOPICS.reminders]: new EventConsumer('notifier', (event) => notifier.notify(event), consuming),
  };
  const publisher = hasPubSub() ? broker : new DirectDelivery(consumers);
  return {
    consumers,
    deliveries,
    relay: new EventRelay({ ...ports, publisher }),
    reminderSending: new ReminderSending(ports),
  };
}

export function reminderServices(ports: ReminderDependencies) {
  return { reminders: new ReminderService(ports) };
}

/** Firebase's, or the one that a machine has. */
export function composePush(): PushService | undefined {
  const service = pushService();
  if (service === 'none') return undefined;
  return new FcmPushService(
    service === 'firebase' ? async () => firebaseApp() : () => localMessagingApp(service.url),
  );
}
