/**
 * Events: what happened to a to-do. Each is written in the commit that makes it happen, and never changed: the
 * documents are the audit trail and the outbox at once. Source: the to-do specification, "Event Structure";
 * docs/decisions/0018-event-spine.md.
 */

import { canonicalJson, parsedJson } from '../../../kernel/json.ts';
import type { TodoPorts } from './ports.ts';
import {
  type Device,
  type Notification,
  notificationOf,
  type PushService,
} from './reminders/notification.ts';
import {
  type EventPublisher,
  eventMessage,
  eventOf,
  messageOf,
  type TaskEvent,
  type Topic,
  topicsOf,
} from './taskEvent.ts';

/**
 * From the outbox to the topics. Relaying twice publishes twice; consumers know events by their ids.
 * @throws Error where any topic cannot be reached: the trigger then comes again
 */
export async function relayEvent(ports: TodoPorts, publisher: EventPublisher, eventId: string) {
  const event = await ports.taskHistory.find(eventId);
  if (event === undefined) return ports.log.error('event_missing', { eventId }); // events are never deleted
  await Promise.all(topicsOf(event).map((topic) => publisher.publish(topic, event)));
}

/**
 * One consumer of a topic. Messages come at least once, late and out of order: what it does must be the same
 * however often. It throws where it may succeed later, and buries what it can never process, so that one bad
 * message is neither tried for a day nor lost.
 */
export function eventConsumer(
  consumer: string,
  act: (event: TaskEvent) => Promise<void>,
  { deadLetters, log }: TodoPorts,
) {
  return {
    /** Takes an event without its journey as a message. */
    act,
    async receive({ id: messageId, text }: { readonly id: string; readonly text: string }): Promise<void> {
      const read = eventMessage.safeParse(parsedJson(text));
      if (read.success) return act(eventOf(read.data));
      const reason = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
      log.error('message_buried', { consumer, messageId, reason });
      await deadLetters.bury({ consumer, reason, messageId, text });
    },
  };
}

/**
 * Records that an event arrived. The events themselves are the audit trail, and nobody can change them through
 * Muster; the digest shows where somebody has done so past it.
 */
export function audit(event: TaskEvent, { recordArrival, hashing, clock }: TodoPorts): Promise<void> {
  const digest = hashing.sha256(canonicalJson(messageOf(event)));
  return recordArrival(event, digest, clock.now());
}

/** Hands events to their consumers without a broker, on a machine that has none. */
export function directDelivery(
  consumers: Readonly<Record<Topic, Pick<ReturnType<typeof eventConsumer>, 'act'>>>,
): EventPublisher {
  return { publish: (topic, event) => consumers[topic].act(event) };
}

/** @throws Error where a device cannot be reached for now; what was delivered already is not delivered again then */
export async function notify(ports: TodoPorts, event: TaskEvent): Promise<void> {
  const notification = notificationOf(event, ports.consoleLinks);
  if (notification === undefined) return;
  const { uid } = notification;
  const wanted = await ports.notifications.preferences(uid);
  await ports.clientLists.putNotification(notification);
  if (wanted.email) {
    const address = await ports.verifiedEmail(uid);
    if (address !== undefined) await ports.notifications.queueMail(address, notification);
    else ports.log.info('mail_without_address', { uid });
  }
  const { push } = ports;
  if (!wanted.push || push === undefined) return;
  const devices = await ports.devices.of(uid);
  const told = await Promise.all(devices.map((device) => pushTo(ports, device, notification, push)));
  const missed = told.filter((isDone) => !isDone).length;
  if (missed > 0) throw new Error(`${missed} of ${devices.length} devices are still to be told.`);
}

/** Whether nothing is left to do for the device. */
async function pushTo(
  { deliveries, devices, log }: TodoPorts,
  device: Device,
  notification: Notification,
  push: PushService,
): Promise<boolean> {
  const claim = await deliveries.claim(notification.id, device.id);
  if (claim !== 'claimed') return claim === 'delivered';
  const outcome = await push.send(device.token, notification);
  if (outcome === 'unreachable') {
    await deliveries.release(notification.id, device.id);
    return false;
  }
  await deliveries.markDelivered(notification.id, device.id);
  if (outcome === 'unregistered') await devices.forget(notification.uid, device);
  if (outcome !== 'sent') log.info('push_not_taken', { uid: notification.uid, outcome });
  return true;
}
