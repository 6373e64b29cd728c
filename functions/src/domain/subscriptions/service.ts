/** Subscriptions: made, read and removed by whoever owns them. Source: spec/network.md; design, section 5. */
import type { Caller } from '../data/caller.ts';
import { type DatabaseName, type DataPath, parsePath } from '../data/path.ts';
import type { Hashing } from '../ports.ts';
import type { SubscriptionReader } from '../readers.ts';
import { retryStale } from '../retry.ts';
import { byteLength } from '../size.ts';
import { type Settle, StaleWriteError, type Store } from '../store.ts';
import type { Expiring } from '../sweep/part.ts';
import { beginningOf, cursorOf } from './cursor.ts';
import type { EventType } from './event.ts';
import { beginLate } from './lateBeginning.ts';
import { type Look, lookAt } from './look.ts';
import { LogReader } from './reader.ts';
import type { EventReader, ReadFrom, Reading } from './reading.ts';
import { sizeError } from './recorder.ts';
import {
  checkEventType,
  checkSubscriptionId,
  EXTENDED_EVERY_MILLISECONDS,
  hasExpired,
  isSameDefinition,
  KEPT_MILLISECONDS,
  MAX_SUBSCRIPTIONS,
  otherDefinition,
  type Subscription,
  subscriptionNotFound,
  tooManySubscriptions,
} from './subscription.ts';
import { stateOf } from './transition.ts';
import type { WatchingPorts } from './watching.ts';

/** Expired ones that one sweep removes. */
const SWEPT_AT_ONCE = 100;

const ID_LENGTH = 40;

/** As cursors carry it: domain/subscriptions/cursor.ts. */
const LOG_LETTERS = 20;

const WRITER_LETTERS = 12;

export interface SubscriptionDependencies extends Omit<WatchingPorts, 'isOpen'> {
  readonly subscriptions: SubscriptionReader;
  readonly store: Store;
  readonly hashing: Hashing;
}

export interface SubscriptionRequest {
  readonly subscriptionId: string;
  readonly database: DatabaseName;
  readonly path: string;
  readonly eventType: EventType;
}

export interface Subscribed {
  /** What there is: each child or document, or the one value under the empty key. */
  readonly data: Look;
  /** Events that `data` does not show come after it. */
  readonly cursor: string;
}

export class SubscriptionService implements EventReader, Expiring {
  readonly name = 'subscriptions';
  private readonly dependencies: SubscriptionDependencies;
  private readonly reader: LogReader;

  constructor(dependencies: SubscriptionDependencies) {
    this.dependencies = dependencies;
    this.reader = new LogReader({
      ...dependencies,
      opened: (caller, subscriptionId) => this.opened(caller, subscriptionId),
      isOpen: async ({ id, log }) => (await this.dependencies.subscriptions.find(id))?.value.log === log,
    });
  }

  /**
   * Begins a subscription, or finds that it has begun already and goes on.
   * @throws MusterError CONFLICT where there is another of this id, QUOTA_EXCEEDED where there are too many,
   *   and what domain/data/errors.ts makes where the path may not be read
   */
  async subscribe(
    caller: Caller,
    request: SubscriptionRequest,
    settle: Settle<Subscribed>,
  ): Promise<Subscribed> {
    const { randomness, events } = this.dependencies;
    checkSubscriptionId(request.subscriptionId);
    const path = parsePath(request.database, request.path);
    checkEventType(path, request.eventType);
    const { log, ...subscribed } = await retryStale(randomness, async () => {
      const id = this.idOf(caller, request.subscriptionId);
      const known = await this.dependencies.subscriptions.find(id);
      return known === undefined || hasExpired(known.value, this.now())
        ? this.open(caller, path, request, known?.version, settle)
        : this.goOn(caller, path, request, known.value, settle);
    });
    await events.create(log, stateOf(request.eventType, subscribed.data));
    return subscribed;
  }

  /** What there is at the path, as `subscribe` answers it. */
  look(
    caller: Caller,
    { database, path, eventType }: Omit<SubscriptionRequest, 'subscriptionId'>,
  ): Promise<Look> {
    return this.lookAt(caller, parsePath(database, path), eventType);
  }

  /** @throws MusterError NOT_FOUND where the caller has no such subscription */
  async unsubscribe(caller: Caller, subscriptionId: string, settle: Settle<void>): Promise<void> {
    const { events, store, subscriptions, randomness } = this.dependencies;
    await retryStale(randomness, async () => {
      const known = await subscriptions.find(this.idOf(caller, subscriptionId));
      if (known === undefined || hasExpired(known.value, this.now())) {
        throw subscriptionNotFound(subscriptionId);
      }
      const { id, log } = known.value;
      // The log goes before, so that an instance that dies in between leaves what can be unsubscribed again;
      // and after, since whoever reads it meanwhile takes a missing one for one that is still to be made.
      await events.remove(log);
      await store.commit([{ kind: 'closeSubscription', id, version: known.version }], settle());
      await events.remove(log);
    });
  }

  poll(...reading: Parameters<EventReader['poll']>): Promise<Reading> {
    return this.reader.poll(...reading);
  }

  follow(caller: Caller, from: ReadFrom, gone: AbortSignal): AsyncIterable<Reading> {
    return this.reader.follow(caller, from, gone);
  }

  /** Forgets what nobody has read for a day. */
  async expire(): Promise<number> {
    const { events, store, subscriptions } = this.dependencies;
    const expired = await subscriptions.expired(this.now(), SWEPT_AT_ONCE);
    const closed = await Promise.all(
      expired.map(async ({ value: { id, log }, version }) => {
        await events.remove(log);
        return this.unlessStale(store.commit([{ kind: 'closeSubscription', id, version }]));
      }),
    );
    return closed.filter((isClosed) => isClosed).length;
  }

  private async open(
    caller: Caller,
    path: DataPath,
    request: SubscriptionRequest,
    replaces: string | undefined,
    settle: Settle<Subscribed>,
  ): Promise<Subscribed & { readonly log: string }> {
    const { randomness, store, subscriptions } = this.dependencies;
    const { uid } = caller.principal;
    const data = await this.lookAt(caller, path, request.eventType);
    if ((await subscriptions.count(uid)) >= MAX_SUBSCRIPTIONS) throw tooManySubscriptions();
    const createdAt = this.now();
    const subscription: Subscription = {
      ...request,
      id: this.idOf(caller, request.subscriptionId),
      uid,
      log: randomness.letters(LOG_LETTERS),
      createdAt,
      expiresAt: new Date(createdAt.getTime() + KEPT_MILLISECONDS),
    };
    const subscribed = { data, cursor: cursorOf(beginningOf(subscription.log)) };
    const change = { kind: 'openSubscription', subscription } as const;
    await store.commit([{ ...change, ...(replaces !== undefined && { replaces }) }], settle(subscribed));
    return { ...subscribed, log: subscription.log };
  }

  private async goOn(
    caller: Caller,
    path: DataPath,
    request: SubscriptionRequest,
    known: Subscription,
    settle: Settle<Subscribed>,
  ): Promise<Subscribed & { readonly log: string }> {
    const { events, store, randomness } = this.dependencies;
    const { log } = known;
    if (!isSameDefinition(known, request)) throw otherDefinition(known);
    // The end before the data, so that nothing falls in between.
    const [isThere, end] = await Promise.all([events.exists(log), events.end(log)]);
    const data = await this.lookAt(caller, path, request.eventType);
    const sequence = isThere
      ? end + 1
      : await beginLate(events, log, stateOf(request.eventType, data), randomness.letters(WRITER_LETTERS));
    const subscribed = { data, cursor: cursorOf({ log, sequence, index: 0 }) };
    await store.commit([], settle(subscribed));
    await this.extend(known);
    return { ...subscribed, log };
  }

  private async lookAt(caller: Caller, path: DataPath, eventType: EventType): Promise<Look> {
    const data = await lookAt(this.dependencies.databases, caller, path, eventType);
    const error = sizeError(eventType, byteLength([...data]));
    if (error !== undefined) throw error;
    return data;
  }

  /** @throws MusterError NOT_FOUND where the caller has no such subscription */
  private async opened(caller: Caller, subscriptionId: string): Promise<Subscription> {
    const known = await this.dependencies.subscriptions.find(this.idOf(caller, subscriptionId));
    if (known === undefined || hasExpired(known.value, this.now())) {
      throw subscriptionNotFound(subscriptionId);
    }
    await this.extend(known.value);
    return known.value;
  }

  /** Whoever reads keeps it. */
  private async extend({ id, expiresAt }: Subscription): Promise<void> {
    const extended = new Date(this.now().getTime() + KEPT_MILLISECONDS);
    if (extended.getTime() - expiresAt.getTime() < EXTENDED_EVERY_MILLISECONDS) return;
    const { store } = this.dependencies;
    await this.unlessStale(store.commit([{ kind: 'extendSubscription', id, expiresAt: extended }]));
  }

  /** Whether it was committed; not where somebody else has removed or replaced it meanwhile. */
  private async unlessStale(committing: Promise<void>): Promise<boolean> {
    try {
      await committing;
      return true;
    } catch (error) {
      if (error instanceof StaleWriteError) return false;
      throw error;
    }
  }

  /** Its owner's own: nobody else finds it. */
  private idOf({ principal }: Caller, subscriptionId: string): string {
    return this.dependencies.hashing
      .sha256(JSON.stringify([principal.uid, subscriptionId]))
      .slice(0, ID_LENGTH);
  }

  private now(): Date {
    return this.dependencies.clock.now();
  }
}
