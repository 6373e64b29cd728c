/**
 * `deliveries/{notification}/devices/{device}`: which device is being told, until when, or has been told. `at` is the
 * time of the last claim, by which old ones are found and removed.
 */
import type { Database, Reference } from 'firebase-admin/database';
import type { Deliveries } from '../../domain/notifications/ports.ts';
import type { Clock, Randomness } from '../../domain/ports.ts';
import type { Expiring } from '../../domain/sweep/part.ts';
import { removeFound } from './expiry.ts';
import { DELIVERIES, keyOf } from './paths.ts';
import { changeNode } from './transactions.ts';

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
