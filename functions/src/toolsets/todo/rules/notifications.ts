/** What a person is told, and how they want to be told it. */
import type { TaskEvent } from './outbox.ts';
import type { TodoPorts } from './ports.ts';
import { DEFAULT_LEAD_MILLISECONDS } from './reminder.ts';

const LONGEST_TITLE = 200;

export interface Notification {
  /** The event's: telling it again is telling nothing new. */
  readonly id: string;
  readonly uid: string;
  readonly taskId: string;
  readonly title: string;
  readonly body: string;
  readonly at: Date;
}

export interface Preferences {
  /** How long before its due date a to-do is reminded of. */
  readonly leadMilliseconds: number;
  /** Beside `notifications/{uid}`, which always shows them. */
  readonly channels: { readonly push: boolean; readonly email: boolean };
}

export const DEFAULT_PREFERENCES: Preferences = {
  leadMilliseconds: DEFAULT_LEAD_MILLISECONDS,
  channels: { push: true, email: false },
};

/** Undefined where the event says nothing that a person is told. */
export function notificationOf({ id, type, taskId, userId, timestamp, after }: TaskEvent) {
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? oneLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  return {
    id,
    uid: userId,
    taskId,
    title,
    body: isLate ? 'A reminder of your to-do, later than it was to be.' : 'A reminder of your to-do.',
    at: timestamp,
  } satisfies Notification;
}

/** A title goes into the subject of a mail, where a line's end would begin another header. */
function oneLine(title: string): string {
  const line = title.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= LONGEST_TITLE ? line : `${characters.slice(0, LONGEST_TITLE - 1).join('')}…`;
}

// Tells people of reminders, in the ways that they chose. Telling again what was told does nothing.

export class Notifier {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** Fails where a device could not be reached for now: what is told already is not told again then. */
  async notify(event: TaskEvent): Promise<void> {
    const notification = notificationOf(event);
    if (notification === undefined) return;
    const { preferences, inbox } = this.ports;
    const { channels } = await preferences.of(notification.uid);
    await inbox.put(notification);
    if (channels.email) await this.mail(notification);
    if (channels.push) await this.push(notification);
  }

  private async mail(notification: Notification): Promise<void> {
    const { people, mail, log } = this.ports;
    const address = await people.verifiedEmail(notification.uid);
    if (address !== undefined) await mail.queue(address, notification);
    else log.info('mail_without_address', { uid: notification.uid });
  }

  private async push(notification: Notification): Promise<void> {
    const { devices, push } = this.ports;
    if (push === undefined) return;
    const known = await devices.of(notification.uid);
    const pushed = await Promise.all(known.map((device) => this.pushTo(device, notification, push)));
    const missed = pushed.filter((isSettled) => !isSettled).length;
    if (missed > 0) throw new Error(`${missed} of ${known.length} devices are still to be told.`);
  }

  /** Whether nothing is left to do for the device. */
  private async pushTo(device: Device, notification: Notification, push: PushService): Promise<boolean> {
    const { deliveries, devices, log } = this.ports;
    const claim = await deliveries.claim(notification.id, device.id);
    if (claim !== 'claimed') return claim === 'settled';
    const outcome = await push.send(device.token, notification);
    if (outcome === 'unreachable') {
      await deliveries.release(notification.id, device.id);
      return false;
    }
    await deliveries.settle(notification.id, device.id);
    if (outcome === 'unregistered') await devices.forget(notification.uid, device);
    if (outcome !== 'sent') log.info('push_not_taken', { uid: notification.uid, outcome });
    return true;
  }
}

// What telling people needs of the world.

export interface PreferenceReader {
  /** The defaults, where the person has not said anything. */
  of(uid: string): Promise<Preferences>;
}

/** `notifications/{uid}`: what a person's clients show. */
export interface Inbox {
  /** Puts the notification there unless it is there, and drops the oldest beyond what is kept. */
  put(notification: Notification): Promise<void>;
}

export interface Device {
  readonly id: string;
  readonly token: string;
}

export interface Devices {
  of(uid: string): Promise<readonly Device[]>;
  /** Forgets the device, unless it has another token by now. */
  forget(uid: string, device: Device): Promise<void>;
}

/**
 * What became of a push: `unregistered`, the device has gone for good; `refused`, it will never be taken;
 * `unreachable`, it may be taken later.
 */
export type PushOutcome = 'sent' | 'unregistered' | 'refused' | 'unreachable';

/** Undefined in a deployment that has no push service. */
export interface PushService {
  send(token: string, notification: Notification): Promise<PushOutcome>;
}

/** Who is pushing what to which device, so that two that are told at once push once. */
export interface Deliveries {
  /** `busy`: somebody else is at it, until their lease ends. */
  claim(notificationId: string, deviceId: string): Promise<'claimed' | 'busy' | 'settled'>;
  settle(notificationId: string, deviceId: string): Promise<void>;
  release(notificationId: string, deviceId: string): Promise<void>;
}

export interface People {
  /** The person's address, where it is theirs for certain. */
  verifiedEmail(uid: string): Promise<string | undefined>;
}

export interface MailQueue {
  /** Queues a mail unless the notification has been queued. */
  queue(address: string, notification: Notification): Promise<void>;
}
