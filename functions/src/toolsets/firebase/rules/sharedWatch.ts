/**
 * Keeps a subscription watched while this instance has readers of it, by this instance or by another that holds the
 * lease. The lease only avoids duplicate work. Two instances that both assume to hold it do no harm, because each log
 * entry is written by one of them only.
 */
import type { Caller } from '../../../identity/rules/principal.ts';
import { type Deferred, deferred } from '../../../kernel/concurrency.ts';
import { parsePath, type Watch } from './databaseAccess.ts';
import { canTakeLease, LEASE_RENEWAL_MS } from './eventLog.ts';
import { type KnownSubscriptions, type Replayed, replay } from './page.ts';
import type { Entry, EventLog, FirebasePorts, Lease, LoadedLog } from './ports.ts';
import { Recorder, type RecorderEnd } from './recorder.ts';
import { MAX_CHILDREN, type Subscription, shapeOf, subscriptionNotFound } from './subscription.ts';
import { readSnapshot, type State, stateOf } from './transition.ts';

/** Time for which a watch outlives its last reader, who may return with the next poll. */
const LINGER_MS = 10_000;

export interface WatchReader {
  readonly caller: Caller;
  /** Called at most once; the reader has left then. */
  failed(error: unknown): void;
}

export class SharedWatch {
  private readonly ports: FirebasePorts;
  private readonly subscriptions: Pick<KnownSubscriptions, 'isOpen'>;
  private readonly subscription: Subscription;
  private readonly ended: () => void;
  /** Identifies this instance's watch as lease holder. */
  private readonly holder: string;
  /** The newest last. */
  private readonly readers = new Set<WatchReader>();
  private watch: RecordedWatch | undefined;
  /** The newest entry that a reader has seen. */
  private newest: Entry | undefined;
  /** Settled once it is known which instance watches. */
  private known: Deferred = deferred();
  private step: 'none' | 'one' | 'another' = 'none';
  private isEnded = false;
  private losses = 0;
  private lingering: NodeJS.Timeout | undefined;
  private readonly renewing: NodeJS.Timeout;
  private readonly unobserve: () => void;

  /** @param ended called once, when this watch is no longer usable */
  constructor(
    ports: FirebasePorts,
    subscriptions: Pick<KnownSubscriptions, 'isOpen'>,
    subscription: Subscription,
    ended: () => void,
  ) {
    this.ports = ports;
    this.subscriptions = subscriptions;
    this.subscription = subscription;
    this.ended = ended;
    this.holder = ports.randomness.letters(12);
    this.renewing = setInterval(() => this.reconcile(), LEASE_RENEWAL_MS).unref();
    this.unobserve = ports.leases.observe(subscription.log, (lease) => this.leaseChanged(lease));
  }

  /** Resolves once the current state is in the log, or another instance watches. */
  async join(reader: WatchReader): Promise<void> {
    if (this.readers.size === 0) this.known = deferred();
    this.readers.add(reader);
    clearTimeout(this.lingering);
    this.reconcile();
    await this.known.promise;
    await this.watch?.recorder.caughtUp();
  }

  leave(reader: WatchReader): void {
    if (!this.readers.delete(reader) || this.readers.size > 0) return;
    this.yieldLease();
    this.lingering = setTimeout(() => this.end(), LINGER_MS).unref();
  }

  /** Called with each entry that a reader sees. */
  seen(entry: Entry): void {
    if (entry.sequence > (this.newest?.sequence ?? 0)) this.newest = entry;
    this.watch?.recorder.seen(entry);
  }

  /** Aligns this instance's watch with its readers and the lease; one step at a time. */
  private reconcile(): void {
    if (this.isEnded) return;
    if (this.step !== 'none') {
      this.step = 'another';
      return;
    }
    this.step = 'one';
    this.acquireLease()
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        const again = this.step === 'another';
        this.step = 'none';
        if (again) this.reconcile();
      });
  }

  private async acquireLease(): Promise<void> {
    if (this.readers.size === 0) return;
    const { known } = this;
    const isOurs = await this.startRecording(true, (lease) => canTakeLease(lease, this.holder, this.ports.clock.now()));
    const { losses } = this;
    if (!isOurs) this.stopWatch();
    else if (this.watch === undefined) await this.start();
    if (losses !== this.losses) this.stopWatch();
    known.resolve();
    if (this.readers.size === 0) this.yieldLease();
  }

  private async start(): Promise<void> {
    const loaded = await this.load();
    const reader = [...this.readers].at(-1);
    if (reader === undefined || this.isEnded) return;
    const watch: RecordedWatch = new RecordedWatch(
      this.ports,
      this.subscription,
      {
        writer: this.ports.randomness.letters(12),
        caller: reader.caller,
        log: replay(this.subscription.event_type, loaded),
      },
      {
        replaced: () => this.watchEnded(watch, () => this.reconcile()),
        failed: (error) => this.watchEnded(watch, () => this.watchFailed(watch.caller, error)),
      },
    );
    this.watch = watch;
    // The entry may have been appended after the log was loaded.
    if (this.newest !== undefined) watch.recorder.seen(this.newest);
  }

  /** Loads the log. If an instance crashed while creating the subscription, the log is missing and is created now. */
  private async load(): Promise<LoadedLog> {
    const { events, databases, randomness } = this.ports;
    const { log, database, path, event_type, subscription_id } = this.subscription;
    const loaded = await events.load(log);
    if (loaded !== undefined) return loaded;
    const [reader] = this.readers;
    if (reader !== undefined && (await this.subscriptions.isOpen(this.subscription))) {
      const data = await readSnapshot(databases, reader.caller, parsePath(database, path), event_type);
      await startAfterGap(events, log, stateOf(event_type, data), randomness.letters(12));
      const created = await events.load(log);
      // Checked again: a later removal also deletes the lease, which is noticed.
      if (created !== undefined && (await this.subscriptions.isOpen(this.subscription))) return created;
    }
    await this.removeOrphanedLog();
    throw subscriptionNotFound(subscription_id);
  }

  private watchEnded(watch: RecordedWatch, next: () => void): void {
    if (this.watch !== watch) return;
    this.stopWatch();
    next();
  }

  /** Handles a failed watch. Credentials expire: the watch continues with a newer credential if a reader has one. */
  private watchFailed(caller: Caller, error: unknown): void {
    const newest = [...this.readers].at(-1);
    if (newest !== undefined && newest.caller.credential !== caller.credential) this.reconcile();
    else this.fail(error);
  }

  private leaseChanged(lease: Lease | undefined): void {
    if (this.isEnded || lease?.holder === this.holder) return;
    this.losses++;
    if (this.watch === undefined) {
      if (this.readers.size > 0 && canTakeLease(lease, this.holder, this.ports.clock.now())) this.reconcile();
      return;
    }
    // Without a lease the log itself may be removed, so even this watch must restart.
    this.stopWatch();
    if (this.readers.size > 0) this.reconcile();
    else if (lease === undefined) this.removeOrphanedLog().catch((error: unknown) => this.note(error));
  }

  /** Deletes entries written during the removal of the subscription, which would otherwise stay forever. */
  private async removeOrphanedLog(): Promise<void> {
    if (!(await this.subscriptions.isOpen(this.subscription))) await this.ports.events.remove(this.subscription.log);
  }

  private startRecording(reading: boolean, may: (lease: Lease | undefined) => boolean): Promise<boolean> {
    const { leases, clock } = this.ports;
    return leases.take(this.subscription.log, { holder: this.holder, reading, renewed: clock.now() }, may);
  }

  /** Yields the lease: without readers here, another instance with readers may watch. */
  private yieldLease(): void {
    this.startRecording(false, (lease) => lease?.holder === this.holder).catch((error: unknown) => this.note(error));
  }

  private stopWatch(): void {
    this.watch?.stop();
    this.watch = undefined;
  }

  private fail(error: unknown): void {
    const readers = [...this.readers];
    this.readers.clear();
    this.end();
    for (const reader of readers) reader.failed(error);
  }

  private end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    clearTimeout(this.lingering);
    clearInterval(this.renewing);
    this.stopWatch();
    this.known.resolve();
    this.ports.leases
      .release(this.subscription.log, this.holder)
      .catch((error: unknown) => this.note(error))
      .finally(() => this.unobserve());
    this.ended();
  }

  private note(error: unknown): void {
    this.ports.log.warn('watching_ended_badly', { subscription: this.subscription.id, error });
  }
}

export class RecordedWatch {
  readonly caller: Caller;
  readonly recorder: Recorder;
  private readonly watch: Watch;

  constructor(
    ports: FirebasePorts,
    subscription: Subscription,
    { writer, caller, log }: { readonly writer: string; readonly caller: Caller; readonly log: Replayed },
    end: RecorderEnd,
  ) {
    const { database, path, event_type } = subscription;
    this.caller = caller;
    this.recorder = new Recorder(ports, { log: subscription.log, eventType: event_type, writer }, log, end);
    this.watch = ports.databases[database].watch(
      caller,
      parsePath(database, path),
      { shape: shapeOf(event_type), maxItems: MAX_CHILDREN },
      {
        initial: (state) => this.recorder.start(state),
        changed: (changes) => this.recorder.changed(changes),
        // May be called before the constructor has returned, when the watch is not yet known.
        failed: (error) => queueMicrotask(() => end.failed(error)),
      },
    );
  }

  stop(): void {
    this.watch.stop();
    this.recorder.stop();
  }
}

/**
 * Creates a log after its subscription, because the creating instance crashed in between. Changes made since then are
 * unknown, so the log starts with an entry that reports a loss. That entry precedes the state: its readers find every
 * later change. If an instance crashes in between, the next one adds another such entry.
 * @param state read before this call
 * @returns the number of the first entry after the state
 */
export async function startAfterGap(events: EventLog, log: string, state: State, writer: string): Promise<number> {
  const sequence = (await events.end(log)) + 1;
  const isAppended = await events.append(log, { sequence, writer, transitions: [], isAfterLoss: true });
  await events.create(log, state);
  // If not appended, another reader did the same, or the log was created after all.
  return isAppended ? sequence + 1 : sequence;
}
