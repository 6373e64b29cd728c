/**
 * Keeps the path of a subscription watched while this instance has readers. The instance that has the lease on the
 * log watches the path. It may be another instance. The lease only avoids duplicate work: even if two instances
 * assume that they have the lease, the log stays correct, because only one entry can have a given number.
 */

import type { Caller } from '../../../identity/rules/principal.ts';
import { deferred } from '../../../kernel/concurrency.ts';
import { Service } from '../../../kernel/ports.ts';
import { parsePath, type Watch } from './databaseAccess.ts';
import { canTakeLease } from './eventLog.ts';
import { type KnownSubscriptions, replay } from './page.ts';
import type { Entry, EventLog, FirebasePorts, Lease, LoadedLog } from './ports.ts';
import { Recorder, type RecorderEnd } from './recorder.ts';
import { MAX_CHILDREN, type Subscription, shapeOf, subscriptionNotFound } from './subscription.ts';
import { readSnapshot, type State, stateOf } from './transition.ts';

/** Milliseconds for which a watch continues without readers, because a reader may return with its next poll. */
const LINGER_MS = 10_000;

export interface WatchReader {
  readonly caller: Caller;
  /** Called at most once, if the watch fails. The watch no longer has this reader then. */
  failed(error: unknown): void;
}

interface SharedWatchPorts extends FirebasePorts {
  readonly known: Pick<KnownSubscriptions, 'isOpen'>;
  readonly subscription: Subscription;
  /** Called once, when the watch can no longer be used. */
  readonly ended: () => void;
}

export class SharedWatch extends Service<SharedWatchPorts> {
  private readonly subscription = this.ports.subscription;
  private readonly holder = this.ports.randomness.letters(12);
  /** In the order in which they joined. */
  private readonly readers = new Set<WatchReader>();
  private recorded: RecordedWatch | undefined;
  /** Entry with the highest number that any reader has received. */
  private newest: Entry | undefined;
  /** Resolves when it is known which instance watches the path: this or another instance. */
  private known = deferred();
  private step: 'none' | 'one' | 'another' = 'none';
  private isEnded = false;
  private isHeld = false;
  private losses = 0;
  private lingering: NodeJS.Timeout | undefined;
  private readonly unobserve = this.ports.leases.observe(this.subscription.log, (lease) => this.leaseChanged(lease));

  /** Adds a reader. Resolves when the log contains the current state, or when another instance is watching. */
  async join(reader: WatchReader): Promise<void> {
    if (this.readers.size === 0) this.known = deferred();
    this.readers.add(reader);
    clearTimeout(this.lingering);
    this.reconcile();
    await this.known.promise;
    await this.recorded?.recorder.caughtUp();
  }

  leave(reader: WatchReader): void {
    if (!this.readers.delete(reader) || this.readers.size > 0) return;
    this.yieldLease();
    this.lingering = setTimeout(() => this.end(), LINGER_MS).unref();
  }

  seen(entry: Entry): void {
    if (entry.sequence > (this.newest?.sequence ?? 0)) this.newest = entry;
    this.recorded?.recorder.seen(entry);
  }

  /** Renews the lease, and starts or stops watching if necessary. Only one such step runs at a time. */
  reconcile(): void {
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
    const may = (lease: Lease | undefined) => !this.isEnded && canTakeLease(lease, this.holder, this.ports.clock.now());
    const isOurs = await this.takeLease(true, may);
    const { losses } = this;
    if (!isOurs) this.stopWatch();
    else if (this.recorded === undefined) await this.start();
    if (losses !== this.losses) this.stopWatch();
    known.resolve();
    if (this.readers.size === 0) this.yieldLease();
  }

  private async start(): Promise<void> {
    const loaded = await this.load();
    const caller = [...this.readers].at(-1)?.caller;
    if (caller === undefined || this.isEnded) return;
    const { log, database, path, event_type: eventType } = this.subscription;
    const writer = this.ports.randomness.letters(12);
    const end: RecorderEnd = {
      replaced: () => this.watchEnded(recorded, () => this.reconcile()),
      failed: (error) => this.watchEnded(recorded, () => this.watchFailed(caller, error)),
    };
    const recorder = new Recorder(this.ports, { log, eventType, writer }, replay(eventType, loaded), end);
    const watched = { shape: shapeOf(eventType), maxItems: MAX_CHILDREN };
    const watch = this.ports.databases[database].watch(caller, parsePath(database, path), watched, {
      initial: (state) => recorder.start(state),
      changed: (changes) => recorder.changed(changes),
      // The watch may fail before this function ends, so the call is delayed until then.
      failed: (error) => queueMicrotask(() => end.failed(error)),
    });
    const recorded: RecordedWatch = { recorder, watch };
    this.recorded = recorded;
    // The newest known entry may have been appended after the log was loaded.
    if (this.newest !== undefined) recorder.seen(this.newest);
  }

  /** Loads the log. Creates it if an instance crashed between creating the subscription and its log. */
  private async load(): Promise<LoadedLog> {
    const { events, databases, randomness } = this.ports;
    const { log, database, path, event_type, subscription_id } = this.subscription;
    const loaded = await events.load(log);
    if (loaded !== undefined) return loaded;
    const [reader] = this.readers;
    if (reader !== undefined && (await this.ports.known.isOpen(this.subscription))) {
      const data = await readSnapshot(databases, reader.caller, parsePath(database, path), event_type);
      await startAfterGap(events, log, stateOf(event_type, data), randomness.letters(12));
      const created = await events.load(log);
      // Check again that the subscription exists. A later deletion also deletes the lease: see `leaseChanged`.
      if (created !== undefined && (await this.ports.known.isOpen(this.subscription))) return created;
    }
    await this.removeOrphanedLog();
    throw subscriptionNotFound(subscription_id);
  }

  private watchEnded(ended: RecordedWatch, next: () => void): void {
    if (this.recorded !== ended) return;
    this.stopWatch();
    next();
  }

  /** Handles a failed watch. If a credential expired, a reader with another credential continues the watch. */
  private watchFailed(caller: Caller, error: unknown): void {
    const newest = [...this.readers].at(-1);
    if (newest !== undefined && newest.caller.credential !== caller.credential) this.reconcile();
    else this.fail(error);
  }

  private leaseChanged(lease: Lease | undefined): void {
    this.isHeld = lease?.holder === this.holder;
    if (this.isEnded || this.isHeld) return;
    this.losses++;
    if (this.recorded === undefined) {
      if (this.readers.size > 0 && canTakeLease(lease, this.holder, this.ports.clock.now())) this.reconcile();
      return;
    }
    // If the lease was deleted, the log may have been deleted too, so the watch must start again.
    this.stopWatch();
    if (this.readers.size > 0) this.reconcile();
    else if (lease === undefined) this.removeOrphanedLog().catch((error: unknown) => this.note(error));
  }

  /** Deletes the log if its subscription was deleted, because entries may have been added during the deletion. */
  private async removeOrphanedLog(): Promise<void> {
    if (!(await this.ports.known.isOpen(this.subscription))) await this.ports.events.remove(this.subscription.log);
  }

  private takeLease(reading: boolean, may: (lease: Lease | undefined) => boolean): Promise<boolean> {
    const { leases, clock } = this.ports;
    const lease = { holder: this.holder, reading, renewed: clock.now() };
    return leases.take(this.subscription.log, lease, may, this.isHeld);
  }

  /** Marks the lease as held without readers, so that another instance with readers may take it. */
  private yieldLease(): void {
    this.takeLease(false, (lease) => lease?.holder === this.holder).catch((error: unknown) => this.note(error));
  }

  private stopWatch(): void {
    this.recorded?.watch.stop();
    this.recorded?.recorder.stop();
    this.recorded = undefined;
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
    this.stopWatch();
    this.known.resolve();
    this.ports.leases
      .release(this.subscription.log, this.holder)
      .catch((error: unknown) => this.note(error))
      .finally(() => this.unobserve());
    this.ports.ended();
  }

  private note(error: unknown): void {
    this.ports.log.warn('watching_ended_badly', { subscription: this.subscription.id, error });
  }
}

interface RecordedWatch {
  readonly recorder: Recorder;
  readonly watch: Watch;
}

/**
 * Creates the log of a subscription if an instance crashed before creating it. The changes since then are unknown, so
 * the log starts with an entry that reports a loss. This entry is written before the state, so that its readers
 * receive every later change. After another crash, one more such entry is written.
 * @param state state of the path, which must be read before this call
 * @returns the number of the first entry after the state
 */
export async function startAfterGap(events: EventLog, log: string, state: State, writer: string): Promise<number> {
  const sequence = (await events.end(log)) + 1;
  const isAppended = await events.append(log, { sequence, writer, transitions: [], isAfterLoss: true });
  await events.create(log, state);
  // If nothing was appended, the log already exists: another reader may have created it.
  return isAppended ? sequence + 1 : sequence;
}
