/** Removing subscriptions that are over, and their logs. */
import type { Clock } from '../ports.ts';
import type { SubscriptionReader } from '../readers.ts';
import { unlessStale } from '../retry.ts';
import type { Store } from '../store.ts';
import type { EventLog } from './log.ts';
import { hasExpired, type Subscription } from './subscription.ts';

/** Expired ones that one sweep removes. */
const SWEPT_AT_ONCE = 100;

export interface ForgettingDependencies {
  readonly subscriptions: SubscriptionReader;
  readonly events: Pick<EventLog, 'remove'>;
  readonly store: Store;
  readonly clock: Clock;
}

export class Forgetting {
  private readonly dependencies: ForgettingDependencies;

  constructor(dependencies: ForgettingDependencies) {
    this.dependencies = dependencies;
  }

  /** Forgets those that have expired, some at a time. Tells how many. */
  async expired(): Promise<number> {
    const { subscriptions, clock } = this.dependencies;
    const expired = await subscriptions.expired(clock.now(), SWEPT_AT_ONCE);
    const forgotten = await Promise.all(expired.map(({ value }) => this.forget(value)));
    return forgotten.filter((isForgotten) => isForgotten).length;
  }

  /**
   * Forgets one that has expired. The log goes first: an instance that dies in between leaves what the next sweep finds.
   * @returns whether it was there, and not another one of its id by now
   */
  async forget({ id, log }: Subscription): Promise<boolean> {
    const { events, subscriptions, store, clock } = this.dependencies;
    await events.remove(log);
    const known = await subscriptions.find(id);
    if (known?.value.log !== log || !hasExpired(known.value, clock.now())) return false;
    return unlessStale(store.commit([{ kind: 'closeSubscription', id, version: known.version }]));
  }
}
