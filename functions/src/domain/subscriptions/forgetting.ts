/** Removing subscriptions that are over, and their logs. */
import type { FirebasePorts } from '../data/ports.ts';
import { unlessStale } from '../retry.ts';
import { hasExpired, type Subscription } from './subscription.ts';

/** Expired ones that one sweep removes. */
const SWEPT_AT_ONCE = 100;

export class Forgetting {
  private readonly ports: FirebasePorts;

  constructor(ports: FirebasePorts) {
    this.ports = ports;
  }

  /** Forgets those that have expired, some at a time. Tells how many. */
  async expired(): Promise<number> {
    const { subscriptions, clock } = this.ports;
    const expired = await subscriptions.expired(clock.now(), SWEPT_AT_ONCE);
    const forgotten = await Promise.all(expired.map(({ value }) => this.forget(value)));
    return forgotten.filter((isForgotten) => isForgotten).length;
  }

  /**
   * Forgets one that has expired. The log goes first: an instance that dies in between leaves what the next sweep finds.
   * @returns whether it was there, and not another one of its id by now
   */
  async forget({ id, log }: Subscription): Promise<boolean> {
    const { events, subscriptions, store, clock } = this.ports;
    await events.remove(log);
    const known = await subscriptions.find(id);
    if (known?.value.log !== log || !hasExpired(known.value, clock.now())) return false;
    return unlessStale(store.commit([{ kind: 'closeSubscription', id, version: known.version }]));
  }
}
