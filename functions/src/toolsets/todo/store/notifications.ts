/** Storage for notifications: entries for clients, devices, deliveries, preferences and emails. */
import type { App } from 'firebase-admin/app';
import type { Reference } from 'firebase-admin/database';
import { z } from 'zod';
import { timestamp } from '../../../kernel/documentCodec.ts';
import { createOnce } from '../../../kernel/firestore/client.ts';
import { mailPath, preferencesPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { keyOf } from '../../../kernel/ids.ts';
import { type Clock, DAY_MS, MINUTE_MS, type Randomness, Service } from '../../../kernel/ports.ts';
import * as realtime from '../../../kernel/realtime/database.ts';
import type { Mails } from '../rules/outbox.ts';
import type { ClientLists, Deliveries, Devices, Notifications } from '../rules/ports.ts';
import { type Device, emailOf, type Notification } from '../rules/reminders/notification.ts';
import { type Preferences, preferencesDocument } from '../rules/reminders/reminder.ts';
import { messageOf, type TaskEvent } from '../rules/taskEvent.ts';

/** Maximum stored entries per person. A client that missed more must read the to-dos again. */
const [MAX_NOTIFICATIONS, MAX_UPDATES] = [100, 50];

/** Latest entries that a person's clients watch: `notifications/{uid}/{id}` and `task-updates/{uid}/{eventId}`. */
export class DatabaseClientLists extends Service<realtime.RealtimeSource> implements ClientLists {
  async putNotification({ id, uid, about, title, body, at }: Notification): Promise<void> {
    const latest = (await this.ports.database()).ref(realtime.notificationsPath(uid)).orderByChild('at');
    const entry = { id, ...about, title, body, timestamp: at.toISOString(), at: at.getTime() };
    await realtime.putLatest(latest, keyOf(id), entry, MAX_NOTIFICATIONS);
  }

  async putTaskUpdate(event: TaskEvent): Promise<void> {
    const latest = (await this.ports.database()).ref(realtime.taskUpdatesPath(event.userId)).orderByChild('at');
    const entry = { ...messageOf(event), at: event.timestamp.getTime() };
    await realtime.putLatest(latest, keyOf(event.id), entry, MAX_UPDATES);
  }
}

/** Maximum number of devices notified per person. Clients may register more, because security rules cannot count. */
const MAX_DEVICES = 20;
const storedDevice = z.looseObject({ token: z.string().min(1) });

/** Returns the token of a stored device; undefined if the value is invalid, because clients write these values. */
export function tokenIn(value: unknown): string | undefined {
  return storedDevice.safeParse(value).data?.token;
}

/** FCM tokens that a person's clients registered, in `devices/{uid}/{deviceId}`. */
export class DatabaseDevices extends Service<realtime.RealtimeSource> implements Devices {
  async of(uid: string): Promise<readonly Device[]> {
    const list = (await this.ports.database()).ref(realtime.devicesPath(uid));
    const found = await list.orderByChild('registered_at').limitToLast(MAX_DEVICES).get();
    return realtime.childrenOf(found).flatMap((child) => {
      const token = tokenIn(child.val());
      return token === undefined ? [] : [{ id: child.key, token }];
    });
  }

  async remove(uid: string, { id, token }: Device): Promise<void> {
    const device = (await this.ports.database()).ref(realtime.devicesPath(uid)).child(id);
    await realtime.changeNode(device, (current) => {
      const stored = tokenIn(current);
      return stored !== undefined && stored !== token ? undefined : null;
    });
  }
}

const DELIVERED = 'settled';

/** Time in milliseconds for which a sender claims a device. A sender that takes longer is assumed to have crashed. */
const LEASE_MS = 60_000;

/** Returns the expiry time of a claim, in milliseconds since the epoch. It is the first word of the claim. */
function endOf(claim: unknown): number {
  return typeof claim === 'string' ? Number.parseInt(claim, 10) || 0 : 0;
}

/** Longer than the period in which a message can be redelivered, which is at most a day. */
const DELIVERY_TTL_MS = 2 * DAY_MS;
const SWEEP_BATCH = 200;

/**
 * Prevents concurrent senders from pushing twice. `deliveries/{notification}/devices/{device}` stores the sender's
 * claim, or that the device was notified. `at` is the time of the last claim, after which old entries are removed.
 */
export class DatabaseDeliveries
  extends Service<realtime.RealtimeSource & { readonly clock: Clock; readonly randomness: Randomness }>
  implements Deliveries
{
  readonly name = 'deliveries';

  async claim(notificationId: string, deviceId: string): Promise<'claimed' | 'busy' | 'delivered'> {
    const now = this.ports.clock.now().getTime();
    const notification = await this.notification(notificationId);
    await notification.child('at').set(now);
    // The second word lets the sender recognize its own claim if the response to the write is lost.
    const claim = `${now + LEASE_MS} ${this.ports.randomness.uuid()}`;
    let seen: unknown = null;
    const isClaimed = await realtime.changeNode(notification.child('devices').child(deviceId), (current) => {
      seen = current;
      const isHeld = current === DELIVERED || endOf(current) > now;
      return isHeld && current !== claim ? undefined : claim;
    });
    if (isClaimed) return 'claimed';
    return seen === DELIVERED ? 'delivered' : 'busy';
  }

  async markDelivered(notificationId: string, deviceId: string): Promise<void> {
    await (await this.notification(notificationId)).child('devices').child(deviceId).set(DELIVERED);
  }

  async release(notificationId: string, deviceId: string): Promise<void> {
    await (await this.notification(notificationId)).child('devices').child(deviceId).remove();
  }

  async expire(): Promise<number> {
    const before = this.ports.clock.now().getTime() - DELIVERY_TTL_MS;
    const all = (await this.ports.database()).ref(realtime.DELIVERIES);
    return realtime.removeFound(all.orderByChild('at').endAt(before).limitToFirst(SWEEP_BATCH));
  }

  private async notification(id: string): Promise<Reference> {
    return (await this.ports.database()).ref(realtime.DELIVERIES).child(keyOf(id));
  }
}

/** Firestore storage of notification preferences and queued emails. */
export class FirestoreNotifications extends FirestoreReader implements Notifications {
  async preferences(uid: string): Promise<Preferences> {
    const snapshot = await this.database.doc(preferencesPath(uid)).get();
    const [stored] = this.documents.readable(snapshot, (data) => preferencesDocument.parse(data));
    return stored ?? preferencesDocument.parse({});
  }

  async queueEmail(address: string, notification: Notification): Promise<void> {
    const { id, uid, about, at } = notification;
    await createOnce(this.database.doc(mailPath(id)), {
      to: [address],
      message: emailOf(notification),
      user_id: uid,
      ...about,
      created_at: at,
    });
  }
}

/** Returns the verified email address of a Firebase Auth user, if there is one. */
export async function verifiedEmail(app: App, uid: string): Promise<string | undefined> {
  const { getAuth } = await import('firebase-admin/auth');
  const { users } = await getAuth(app).getUsers([{ uid }]); // For an unknown uid, getUser would throw.
  return users.find(({ emailVerified }) => emailVerified)?.email;
}

// Emails in `mail/{id}`, in the format of Firebase's extension Trigger Email, which may deliver them instead.

const mailDocument = z.object({
  to: z.array(z.string()),
  message: z.object({ subject: z.string(), text: z.string() }),
  created_at: timestamp,
  delivery: z.object({ state: z.string(), leaseExpireTime: z.nullish(timestamp) }).optional(),
});

/** States in which an email can be claimed. A claim that has expired belongs to a sender that crashed. */
const CLAIMABLE = ['PENDING', 'RETRY'];

export class FirestoreMails extends FirestoreReader implements Mails {
  claim(id: string, now: Date) {
    const document = this.database.doc(mailPath(id));
    return this.database.runTransaction(async (transaction) => {
      const stored = mailDocument.safeParse((await transaction.get(document)).data()).data;
      if (stored === undefined) return undefined;
      const { delivery, to, message, created_at: createdAt } = stored;
      const isSending = delivery?.state === 'PROCESSING';
      if (isSending && (delivery.leaseExpireTime ?? now) > now) return 'busy';
      if (delivery !== undefined && !isSending && !CLAIMABLE.includes(delivery.state)) return undefined;
      const leaseExpireTime = new Date(now.getTime() + MINUTE_MS);
      transaction.update(document, { delivery: { state: 'PROCESSING', startTime: now, leaseExpireTime } });
      return { mail: { id, to, ...message }, createdAt };
    });
  }

  async settle(id: string, state: 'SUCCESS' | 'RETRY' | 'ERROR', reason: string | null = null): Promise<void> {
    const changes = { 'delivery.state': state, 'delivery.error': reason, 'delivery.leaseExpireTime': null };
    await this.database.doc(mailPath(id)).update(changes);
  }
}
