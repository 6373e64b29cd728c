/** Stores the leases of event logs: `bus/{log}/watcher` contains `{holder, reading, renewed}`. */
import type { Reference } from 'firebase-admin/database';
import { Batching } from '../../../kernel/concurrency.ts';
import { type Clock, Service } from '../../../kernel/ports.ts';
import {
  BusWrites,
  busPath,
  COMMITS,
  changeNode,
  listenWhenReady,
  type RealtimeSource,
  removeFound,
} from '../../../kernel/realtime/database.ts';
import type { ExpiringStore } from '../../../kernel/sweep.ts';
import { type Lease, storedLease, type WatcherLeases } from '../rules/ports.ts';

/** Maximum number of concurrent transactions, because the time of the database's client grows with their square. */
const MAX_TRANSACTIONS = 32;

/** Decides which instance watches a path. Leases only avoid duplicate work: several watchers do not harm the log. */
export class DatabaseWatcherLeases extends Service<RealtimeSource> implements WatcherLeases {
  private readonly writes = new BusWrites(this.ports);
  private readonly transactions = new Batching<() => Promise<boolean>, Promise<boolean>>(async (changes) => {
    const running = changes.map((change) => change());
    await Promise.allSettled(running);
    return async (place) => (await running[place]) === true;
  }, MAX_TRANSACTIONS);

  async take(log: string, lease: Lease, may: (now: Lease | undefined) => boolean, isHeld = false): Promise<boolean> {
    const node = await this.node(log);
    const stored = { ...lease, renewed: lease.renewed.getTime() };
    if (isHeld && (await this.writes.write(`${log}/watcher`, stored))) return true;
    const update = (current: unknown) => (may(leaseIn(current)) ? stored : undefined);
    const isTaken = await this.transactions.add(() => changeNode(node, update));
    const onDisconnect = node.onDisconnect();
    // If this fails, the lease remains until it expires.
    if (isTaken) onDisconnect.remove().catch(() => undefined);
    return isTaken;
  }

  async release(log: string, holder: string): Promise<void> {
    const node = await this.node(log);
    const update = (current: unknown) => ((leaseIn(current)?.holder ?? holder) === holder ? null : undefined);
    const isReleased = await this.transactions.add(() => changeNode(node, update));
    if (isReleased) await node.onDisconnect().cancel();
  }

  observe(log: string, changed: (lease: Lease | undefined) => void): () => void {
    const listen = (node: Reference): (() => void) => {
      const listener = node.on('value', (snapshot) => changed(leaseIn(snapshot.val())));
      return () => node.off('value', listener);
    };
    // Errors are ignored here, because other calls report them: without the database, those calls fail too.
    return listenWhenReady(this.node(log), listen, () => undefined);
  }

  private async node(log: string): Promise<Reference> {
    return (await this.ports.database()).ref(`${busPath(log)}/watcher`);
  }
}

export function leaseIn(value: unknown): Lease | undefined {
  return storedLease.safeParse(value).data;
}

const REMOVAL_BATCH = 500;

/** Commit markers of callers' writes, `commits/{id}`, which are deleted after they expire. */
export class DatabaseCommitMarkers
  extends Service<RealtimeSource & { readonly clock: Clock }>
  implements ExpiringStore
{
  readonly name = 'commits';

  async expire(): Promise<number> {
    const all = (await this.ports.database()).ref(COMMITS);
    const expired = all.orderByChild('expires_at').endAt(this.ports.clock.now().getTime());
    return removeFound(expired.limitToFirst(REMOVAL_BATCH));
  }
}
