/** `notifications/{uid}/{id}`: what a person's clients show. */

import type { Firestore } from '@google-cloud/firestore';
import type { App } from 'firebase-admin/app';
import type { Database, Reference } from 'firebase-admin/database';
import { z } from 'zod';
import { createOnce } from '../../../kernel/firestore/client.ts';
import { mailPath, preferencesPath } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { Clock, Randomness } from '../../../kernel/ports.ts';
import { changeNode, putAmongLatest, removeFound } from '../../../kernel/realtime/database.ts';
import {
  DELIVERIES,
  devicesPath,
  keyOf,
  notificationsPath,
  taskUpdatesPath,
} from '../../../kernel/realtime/paths.ts';
import type { Expiring } from '../../../kernel/sweep.ts';
import {
  DEFAULT_PREFERENCES,
  type Deliveries,
  type Device,
  type Devices,
  type Inbox,
  type MailQueue,
  type Notification,
  type People,
  type PreferenceReader,
  type Preferences,
} from '../rules/notifications.ts';
import { messageOf, type TaskEvent, type TaskUpdates } from '../rules/outbox.ts';

/** Of each person. */
const KEPT_NOTIFICATIONS = 100;

export class DatabaseInbox implements Inbox {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async put({ id, uid, taskId, title, body, at }: Notification): Promise<void> {
    const list = (await this.database()).ref(notificationsPath(uid));
    const entry = { id, task_id: taskId, title, body, timestamp: at.toISOString(), at: at.getTime() };
    await putAmongLatest(list.orderByChild('at'), keyOf(id), entry, KEPT_NOTIFICATIONS);
  }
}

// `devices/{uid}/{deviceId}`: where a person's clients register their FCM tokens.

/** So many devices of a person are told; the security rules cannot count them. */
const MOST_DEVICES = 20;

const storedDevice = z.looseObject({ token: z.string().min(1) });

/** Undefined for what is none: people's clients write them. */
export function tokenIn(value: unknown): string | undefined {
  return storedDevice.safeParse(value).data?.token;
}

export class DatabaseDevices implements Devices {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async of(uid: string): Promise<readonly Device[]> {
    const list = (await this.database()).ref(devicesPath(uid));
    const found: Device[] = [];
    (await list.orderByChild('registered_at').limitToLast(MOST_DEVICES).get()).forEach((child) => {
      const token = tokenIn(child.val());
      if (token !== undefined) found.push({ id: child.key, token });
    });
    return found;
  }

  async forget(uid: string, { id, token }: Device): Promise<void> {
    const device = (await this.database()).ref(devicesPath(uid)).child(id);
    await changeNode(device, (current) => {
      const stored = tokenIn(current);
      return stored !== undefined && stored !== token ? undefined : null;
    });
  }
}

// `deliveries/{notification}/devices/{device}`: which device is being told, until when, or has been told.
// `at` is the time of the last claim, by which old ones are found and removed.

const SETTLED = 'settled';

/** A sender that takes longer is dead. */
const LEASE_MILLISECONDS = 60_000;

/** A claim's end has a fraction of a millisecond by which its sender knows it: so finely a number of that size can tell. */
const FRACTIONS = 4096;

/** Messages are delivered again for a day at most. */
const KEPT_MILLISECONDS = 2 * 24 * 60 * 60_000;

const SWEPT_AT_ONCE = 200;

export class DatabaseDeliveries implements Deliveries, Expiring {
  readonly name = 'deliveries';
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;
  private readonly randomness: Randomness;

  constructor(database: () => Promise<Database>, clock: Clock, randomness: Randomness) {
    this.database = database;
    this.clock = clock;
    this.randomness = randomness;
  }

  async claim(notificationId: string, deviceId: string): Promise<'claimed' | 'busy' | 'settled'> {
    const now = this.clock.now().getTime();
    const notification = await this.notification(notificationId);
    await notification.child('at').set(now);
    const until = now + LEASE_MILLISECONDS + this.randomness.integer(FRACTIONS) / FRACTIONS;
    let seen: unknown = null;
    const isClaimed = await changeNode(notification.child('devices').child(deviceId), (current) => {
      seen = current;
      const isHeld = current === SETTLED || (typeof current === 'number' && current > now);
      return isHeld && current !== until ? undefined : until;
    });
    if (isClaimed) return 'claimed';
    return seen === SETTLED ? 'settled' : 'busy';
  }

  async settle(notificationId: string, deviceId: string): Promise<void> {
    await (await this.notification(notificationId)).child('devices').child(deviceId).set(SETTLED);
  }

  async release(notificationId: string, deviceId: string): Promise<void> {
    await (await this.notification(notificationId)).child('devices').child(deviceId).remove();
  }

  async expire(): Promise<number> {
    const before = this.clock.now().getTime() - KEPT_MILLISECONDS;
    const all = (await this.database()).ref(DELIVERIES);
    return removeFound(all.orderByChild('at').endAt(before).limitToFirst(SWEPT_AT_ONCE));
  }

  private async notification(id: string): Promise<Reference> {
    return (await this.database()).ref(DELIVERIES).child(keyOf(id));
  }
}

// `task-updates/{uid}/{eventId}`: the latest events of a person's to-dos, for clients that watch.

/** Of each person. Who missed more reads the to-dos again. */
const KEPT_UPDATES = 50;

export class DatabaseTaskUpdates implements TaskUpdates {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async show(event: TaskEvent): Promise<void> {
    const list = (await this.database()).ref(taskUpdatesPath(event.userId));
    await putAmongLatest(
      list.orderByChild('at'),
      keyOf(event.id),
      { ...messageOf(event), at: event.timestamp.getTime() },
      KEPT_UPDATES,
    );
  }
}

const MINUTE = 60_000;

/** People write it themselves, as the security rules allow: what is missing or unknown is as by default. */
const preferencesDocument = z.object({
  reminder_lead_minutes: z
    .int()
    .min(0)
    .catch(DEFAULT_PREFERENCES.leadMilliseconds / MINUTE),
  push: z.boolean().catch(DEFAULT_PREFERENCES.channels.push),
  email: z.boolean().catch(DEFAULT_PREFERENCES.channels.email),
});

export function preferencesFromDocument(data: unknown): Preferences {
  const { reminder_lead_minutes, push, email } = preferencesDocument.parse(data);
  return { leadMilliseconds: reminder_lead_minutes * MINUTE, channels: { push, email } };
}

export class FirestorePreferenceReader implements PreferenceReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async of(uid: string): Promise<Preferences> {
    const snapshot = await this.database.doc(preferencesPath(uid)).get();
    return this.documents.readable(snapshot, preferencesFromDocument)[0] ?? DEFAULT_PREFERENCES;
  }
}

// Mails, for Firebase's extension Trigger Email to send. Source:
// https://extensions.dev/extensions/firebase/firestore-send-email

export class FirestoreMailQueue implements MailQueue {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async queue(address: string, { id, uid, title, body, taskId, at }: Notification): Promise<void> {
    await createOnce(this.database.doc(mailPath(id)), {
      to: [address],
      message: { subject: `Reminder: ${title}`, text: `${title}\n\n${body}\n` },
      user_id: uid,
      task_id: taskId,
      created_at: at,
    });
  }
}

/** Firebase Auth's users. */
export class FirebasePeople implements People {
  private readonly app: () => App;

  constructor(app: () => App) {
    this.app = app;
  }

  async verifiedEmail(uid: string): Promise<string | undefined> {
    const { getAuth } = await import('firebase-admin/auth');
    const { users } = await getAuth(this.app()).getUsers([{ uid }]); // other than getUser, it does not throw
    return users.find(({ emailVerified }) => emailVerified)?.email;
  }
}
