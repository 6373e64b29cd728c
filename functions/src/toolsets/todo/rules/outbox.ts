/**
 * Delivery of to-do events. Each event is written in the commit of its change and never modified: the stored events
 * are history and outbox. Source: the to-do specification, "Event Structure"; docs/decisions/0018-event-spine.md.
 */
import { canonicalJson, parsedJson } from '../../../kernel/json.ts';
import { DAY_MS, type KernelPorts } from '../../../kernel/ports.ts';
import type { TodoPorts } from './ports.ts';
import { type Device, type Notification, notificationOf, type PushService } from './reminders/notification.ts';
import { type EventPublisher, eventMessage, eventOf, messageOf, type TaskEvent, topicsOf } from './taskEvent.ts';

/**
 * Publishes an event from the outbox. A repeated call publishes it again; consumers recognize duplicates by event id.
 * @throws Error if a topic is unreachable, so that the trigger retries
 */
export async function relayEvent(ports: TodoPorts, publisher: EventPublisher, eventId: string) {
  const event = await ports.taskHistory.find(eventId);
  if (event === undefined) return ports.log.error('event_missing', { eventId }); // Events are kept for KEEP_EVENTS_DAYS.
  await Promise.all(topicsOf(event).map((topic) => publisher.publish(topic, event)));
}

/**
 * Creates the consumer of a topic. Messages arrive at least once, late and in any order, so `act` must be idempotent;
 * it throws to request a retry. A message that can never be processed becomes a dead letter, so that it is neither
 * retried for a day nor lost.
 */
export function eventConsumer(
  consumer: string,
  act: (event: TaskEvent) => Promise<void>,
  { deadLetters, log }: TodoPorts,
) {
  return {
    /** Processes an event that did not arrive as a message. */
    act,
    async receive({ id: messageId, text }: { readonly id: string; readonly text: string }): Promise<void> {
      const read = eventMessage.safeParse(parsedJson(text));
      if (read.success) return act(eventOf(read.data));
      const reason = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
      log.error('message_buried', { consumer, messageId, reason });
      await deadLetters.deadLetter({ consumer, reason, messageId, text });
    },
  };
}

/**
 * Records that an event arrived, with its digest. Muster never changes events: if a stored event no longer has this
 * digest, someone else changed it.
 */
export function recordReceipt(event: TaskEvent, { recordArrival, hashing, clock }: TodoPorts): Promise<void> {
  const digest = hashing.sha256(canonicalJson(messageOf(event)));
  return recordArrival(event, digest, clock.now());
}

/** @throws Error if a device is temporarily unreachable; the retry skips the devices that were already notified */
export async function notify(ports: TodoPorts, event: TaskEvent): Promise<void> {
  const notification = notificationOf(event, ports.consoleLinks);
  if (notification !== undefined) await deliver(ports, notification);
}

/** Delivers a notification in the ways that the person has chosen. @throws Error like `notify` */
export async function deliver(ports: TodoPorts, notification: Notification): Promise<void> {
  const { uid } = notification;
  const wanted = await ports.notifications.preferences(uid);
  await ports.clientLists.putNotification(notification);
  if (wanted.email) {
    const address = await ports.verifiedEmail(uid);
    if (address !== undefined) await ports.notifications.queueEmail(address, notification);
    else ports.log.info('mail_without_address', { uid });
  }
  const { push } = ports;
  if (!wanted.push || push === undefined) return;
  const devices = await ports.devices.of(uid);
  const deliveries = await Promise.all(devices.map((device) => pushTo(ports, device, notification, push)));
  const missed = deliveries.filter((isDone) => !isDone).length;
  if (missed > 0) throw new Error(`${missed} of ${devices.length} devices have not been notified yet.`);
}

/** Returns false if the push to this device must be retried. */
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
  if (outcome === 'unregistered') await devices.remove(notification.uid, device);
  if (outcome !== 'sent') log.info('push_not_taken', { uid: notification.uid, outcome });
  return true;
}

// Delivery of emails by SMTP. Firebase's extension Trigger Email can deliver the same documents instead.

export interface SentMail {
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export type MailOutcome =
  | { readonly state: 'sent' }
  /** `refused`: a retry fails too; `unreachable`: a retry may succeed. */
  | { readonly state: 'refused' | 'unreachable'; readonly reason: string };

export interface Mailer {
  send(mail: SentMail): Promise<MailOutcome>;
}

export interface Mails {
  /** Claims an email for a minute. Returns undefined if it is settled or missing, `busy` if another sender has it. */
  claim(id: string, now: Date): Promise<{ readonly mail: SentMail; readonly createdAt: Date } | 'busy' | undefined>;
  settle(id: string, state: 'SUCCESS' | 'RETRY' | 'ERROR', reason?: string): Promise<void>;
}

interface MailPorts extends Pick<KernelPorts, 'clock' | 'log'> {
  readonly mails: Mails;
  /** Undefined if no SMTP server is configured. */
  readonly mailer: Mailer | undefined;
}

/** Age after which an undelivered email is given up, because its reminder or question is outdated. */
const GIVE_UP_AFTER_MS = DAY_MS;

/**
 * Delivers an email once. @throws Error if the server is unreachable or another sender has the email, so that the
 * trigger retries: the other sender may crash
 */
export async function deliverMail({ mails, mailer, clock, log }: MailPorts, id: string): Promise<void> {
  if (mailer === undefined) return;
  const claimed = await mails.claim(id, clock.now());
  if (claimed === undefined) return;
  if (claimed === 'busy') throw new Error('Another instance is sending the email.');
  const outcome = await mailer.send(claimed.mail);
  if (outcome.state === 'sent') return mails.settle(id, 'SUCCESS');
  const { state, reason } = outcome;
  const isOver = state === 'refused' || clock.now().getTime() - claimed.createdAt.getTime() > GIVE_UP_AFTER_MS;
  await mails.settle(id, isOver ? 'ERROR' : 'RETRY', reason);
  if (!isOver) throw new Error(`The SMTP server is unreachable: ${reason}.`);
  log.error('mail_refused', { mailId: id, reason });
}
