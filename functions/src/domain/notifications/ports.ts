/** What telling people needs of the world. */
import type { Notification, Preferences } from './notification.ts';

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
