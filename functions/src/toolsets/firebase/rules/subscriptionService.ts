/**
 * Creates, reads and deletes subscriptions at their owners' request. Source: the network specification;
 * docs/decisions/0012-subscription-log.md.
 */
import { type Caller, rightsOf } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { ignoreStale, retryOnConflict, withTimeout } from '../../../kernel/concurrency.ts';
import { byteLength } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import type { ExpiringStore } from '../../../kernel/sweep.ts';
import { type DatabaseName, type DataPath, parsePath } from './databaseAccess.ts';
import { requireWorkspaceOf } from './dataService.ts';
import { type EventReader, LogReader } from './logReader.ts';
import type { FirebasePorts } from './ports.ts';
import { sizeError } from './recorder.ts';
import { startAfterGap } from './sharedWatch.ts';
import * as rules from './subscription.ts';
import { readSnapshot, type Snapshot, stateOf } from './transition.ts';

/** Expiry of a subscription that its owner has ended: in the past for the clocks of all instances. */
const SUBSCRIPTION_ENDED = new Date(0);

/** Maximum time in milliseconds that unsubscribe waits for the log's deletion. After that, the sweep deletes it. */
const REMOVAL_DELAY_MS = 5000;
const SWEEP_BATCH = 100;
const ID_LENGTH = 40;
const RIGHTS_LENGTH = 20;

/** Length of a log id. A cursor contains the id: see toolsets/firebase/rules/subscription.ts. */
const LOG_LETTERS = 20;
const WRITER_LETTERS = 12;

export interface SubscriptionRequest {
  readonly subscriptionId: string;
  readonly database: DatabaseName;
  readonly path: string;
  readonly eventType: rules.EventType;
}

export interface SubscriptionState {
  /** Initial data by the key of a child or document. A path that is watched as a single value has the empty key. */
  readonly data: Snapshot;
  readonly cursor: string;
}

interface WantedWatch {
  readonly path: DataPath;
  readonly request: SubscriptionRequest;
}

export class SubscriptionService extends Service<FirebasePorts> implements EventReader, ExpiringStore {
  readonly name = 'subscriptions';
  private readonly reader = new LogReader({
    ...this.ports,
    known: {
      opened: (caller, subscriptionId) => this.opened(caller, subscriptionId),
      isOpen: async ({ id, log }) => (await this.findOpen(id))?.value.log === log,
    },
  });
  readonly poll = this.reader.poll.bind(this.reader);
  readonly follow = this.reader.follow.bind(this.reader);

  /** Creates a subscription, or uses an identical one. @throws MusterError CONFLICT; QUOTA_EXCEEDED; as for reads */
  async subscribe(
    caller: Caller,
    request: SubscriptionRequest,
    recordResponse: RecordResponse<SubscriptionState>,
  ): Promise<SubscriptionState> {
    const { randomness, events } = this.ports;
    const path = parsePath(request.database, request.path);
    rules.checkEventType(path, request.eventType);
    const { log, ...subscribed } = await retryOnConflict(randomness, async () => {
      const known = await this.ports.subscriptions.find(this.idOf(caller, request.subscriptionId));
      return known === undefined || rules.hasExpired(known.value, this.now())
        ? this.open(caller, { path, request }, known, recordResponse)
        : this.resume(caller, { path, request }, known, recordResponse);
    });
    await events.create(log, stateOf(request.eventType, subscribed.data));
    return subscribed;
  }

  current(
    caller: Caller,
    { database, path, eventType }: Omit<SubscriptionRequest, 'subscriptionId'>,
  ): Promise<Snapshot> {
    return this.readable(caller, parsePath(database, path), eventType);
  }

  /** Ends a subscription. @throws MusterError NOT_FOUND if the caller has no such subscription */
  async unsubscribe(caller: Caller, subscriptionId: string, recordResponse: RecordResponse<void>): Promise<void> {
    const { store, randomness, log } = this.ports;
    // End the subscription before its log is deleted, because readers of a subscription create a missing log.
    const ended = await retryOnConflict(randomness, async () => {
      const before = await this.requireOwn(caller, subscriptionId);
      await store.commit(
        [{ kind: 'endSubscription', before, ownerUid: caller.principal.owner_uid, until: SUBSCRIPTION_ENDED }],
        recordResponse(),
      );
      return before.value;
    });
    try {
      await withTimeout(this.remove(ended), REMOVAL_DELAY_MS, 'The log');
    } catch (error) {
      log.warn('subscription_left_to_the_sweep', { id: ended.id, error });
    }
  }

  /** Deletes subscriptions that have expired or ended, with their logs. Returns the number of subscriptions. */
  async expire(): Promise<number> {
    const expired = await this.ports.subscriptions.expired(this.now(), SWEEP_BATCH);
    const forgotten = await Promise.all(expired.map(({ value }) => this.remove(value)));
    return forgotten.filter((isForgotten) => isForgotten).length;
  }

  /**
   * Deletes an expired subscription after its log. If an instance crashes in between, the next sweep continues.
   * @returns false if the subscription did not exist, or if a new one with the same id has replaced it
   */
  private async remove({ id, log }: rules.Subscription): Promise<boolean> {
    const { events, subscriptions, store } = this.ports;
    await events.remove(log);
    const known = await subscriptions.find(id);
    if (known?.value.log !== log || !rules.hasExpired(known.value, this.now())) return false;
    return ignoreStale(store.commit([{ kind: 'closeSubscription', id, version: known.version }]));
  }

  private async open(
    caller: Caller,
    { path, request }: WantedWatch,
    expired: Versioned<rules.Subscription> | undefined,
    recordResponse: RecordResponse<SubscriptionState>,
  ): Promise<SubscriptionState & { readonly log: string }> {
    const { randomness, store, subscriptions, events } = this.ports;
    const { uid, owner_uid } = caller.principal;
    const data = await this.readable(caller, path, request.eventType);
    if ((await subscriptions.count(uid)) >= rules.MAX_SUBSCRIPTIONS) throw rules.tooManySubscriptions();
    const createdAt = this.now();
    const { subscriptionId: subscription_id, eventType: event_type, ...watched } = request;
    const subscription: rules.Subscription = {
      ...watched,
      subscription_id,
      event_type,
      id: this.idOf(caller, request.subscriptionId),
      uid,
      log: randomness.letters(LOG_LETTERS),
      created_at: createdAt,
      rights: this.rightsOf(caller),
      expires_at: new Date(createdAt.getTime() + rules.SUBSCRIPTION_TTL_MS),
    };
    const subscribed = { data, cursor: rules.cursorOf(rules.startOf(subscription.log)) };
    if (expired !== undefined) await events.remove(expired.value.log);
    await store.commit(
      [{ kind: 'openSubscription', subscription, ownerUid: owner_uid, replaces: expired?.version }],
      recordResponse(subscribed),
    );
    return { ...subscribed, log: subscription.log };
  }

  private async resume(
    caller: Caller,
    { path, request }: WantedWatch,
    known: Versioned<rules.Subscription>,
    recordResponse: RecordResponse<SubscriptionState>,
  ): Promise<SubscriptionState & { readonly log: string }> {
    const { events, store, randomness } = this.ports;
    const { log, database, path: text, event_type } = known.value;
    const isSame = database === request.database && text === request.path && event_type === request.eventType;
    if (!isSame) throw rules.otherDefinition(known.value);
    // Read the end of the log before the data, so that no change between the two reads is missed.
    const [isThere, end] = await Promise.all([events.exists(log), events.end(log)]);
    const data = await this.readable(caller, path, request.eventType);
    const sequence = isThere
      ? end + 1
      : await startAfterGap(events, log, stateOf(request.eventType, data), randomness.letters(WRITER_LETTERS));
    const subscribed = { data, cursor: rules.cursorOf({ log, sequence, index: 0 }) };
    await store.commit([], recordResponse(subscribed));
    await this.extend(known);
    return { ...subscribed, log };
  }

  private async readable(caller: Caller, path: DataPath, eventType: rules.EventType): Promise<Snapshot> {
    requireWorkspaceOf(caller, path, 'read');
    const data = await readSnapshot(this.ports.databases, caller, path, eventType);
    const error = sizeError(eventType, byteLength([...data]));
    if (error !== undefined) throw error;
    return data;
  }

  private async opened(caller: Caller, subscriptionId: string): Promise<rules.Subscription> {
    const known = await this.requireOwn(caller, subscriptionId);
    await this.requireReadable(caller, known);
    await this.extend(known);
    return known.value;
  }

  /** If the caller's permissions have changed, reads the path again. @throws MusterError if it is not readable */
  private async requireReadable(
    caller: Caller,
    { value: { id, database, path, event_type, rights: before }, version }: Versioned<rules.Subscription>,
  ): Promise<void> {
    const rights = this.rightsOf(caller);
    if (rights === before) return;
    await this.readable(caller, parsePath(database, path), event_type);
    await ignoreStale(this.ports.store.commit([{ kind: 'renewRights', id, rights, version }]));
  }

  private rightsOf({ principal }: Caller): string {
    return this.ports.hashing.sha256(rightsOf(principal)).slice(0, RIGHTS_LENGTH);
  }

  /** @throws MusterError NOT_FOUND if the caller has no such subscription */
  private async requireOwn(caller: Caller, subscriptionId: string): Promise<Versioned<rules.Subscription>> {
    const known = await this.findOpen(this.idOf(caller, subscriptionId));
    if (known === undefined) throw rules.subscriptionNotFound(subscriptionId);
    return known;
  }

  private async findOpen(id: string): Promise<Versioned<rules.Subscription> | undefined> {
    const known = await this.ports.subscriptions.find(id);
    return known === undefined || rules.hasExpired(known.value, this.now()) ? undefined : known;
  }

  private async extend({ value: { id, expires_at }, version }: Versioned<rules.Subscription>): Promise<void> {
    const until = new Date(this.now().getTime() + rules.SUBSCRIPTION_TTL_MS);
    if (until.getTime() - expires_at.getTime() < rules.EXTENSION_INTERVAL_MS) return;
    await ignoreStale(this.ports.store.commit([{ kind: 'extendSubscription', id, until, version }]));
  }

  /** Returns the document id. It depends on the owner, so that callers cannot find the subscriptions of others. */
  private idOf({ principal }: Caller, subscriptionId: string): string {
    return this.ports.hashing.sha256(JSON.stringify([principal.uid, subscriptionId])).slice(0, ID_LENGTH);
  }

  private now(): Date {
    return this.ports.clock.now();
  }
}
