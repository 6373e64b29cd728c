/** Stores the leases of event logs: `bus/{log}/watcher` contains `{holder, reading, renewed}`. */

import type { Database, Reference } from 'firebase-admin/database';
import { z } from 'zod';
import type { Clock } from '../../../kernel/ports.ts';
import { busPath, COMMITS, changeNode, removeFound } from '../../../kernel/realtime/database.ts';
import type { ExpiringStore } from '../../../kernel/sweep.ts';
import type { Lease, WatcherLeases } from '../rules/ports.ts';

export const storedLease = z.object({
  holder: z.string(),
  reading: z.boolean(),
  renewed: z.number().transform((time) => new Date(time)),
});

/** Decides which instance watches a path. Leases only avoid duplicate work: several watchers do not harm the log. */
export class DatabaseWatcherLeases implements WatcherLeases {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async take(log: string, lease: Lease, may: (current: Lease | undefined) => boolean): Promise<boolean> {
    const node = await this.node(log);
    const stored = { ...lease, renewed: lease.renewed.getTime() };
    // If the lease was stored by an attempt whose response was lost, it counts as a new lease here, not as a renewal.
    let isRenewed = true;
    const isTaken = await changeNode(node, (current) => {
      const before = leaseIn(current);
      if (!may(before)) return undefined;
      if (before?.holder !== lease.holder) isRenewed = false;
      return stored;
    });
    if (isTaken && !isRenewed) {
      // If this fails, the lease remains until it expires.
      node
        .onDisconnect()
        .remove()
        .catch(() => undefined);
    }
    return isTaken;
  }

  async release(log: string, holder: string): Promise<void> {
    const node = await this.node(log);
    const isReleased = await changeNode(node, (current) => {
      const there = leaseIn(current);
      return there === undefined || there.holder === holder ? null : undefined;
    });
    if (isReleased) await node.onDisconnect().cancel();
  }

  observe(log: string, changed: (lease: Lease | undefined) => void): () => void {
    let isEnded = false;
    let unlisten = (): void => undefined;
    const listen = (node: Reference): void => {
      if (isEnded) return;
      const listener = node.on('value', (snapshot) => changed(leaseIn(snapshot.val())));
      unlisten = () => node.off('value', listener);
    };
    // Errors are ignored here, because other calls report them: without the database, those calls fail too.
    this.node(log).then(listen, () => undefined);
    return () => {
      isEnded = true;
      unlisten();
    };
  }

  private async node(log: string): Promise<Reference> {
    return (await this.database()).ref(`${busPath(log)}/watcher`);
  }
}

export function leaseIn(value: unknown): Lease | undefined {
  return storedLease.safeParse(value).data;
}

const REMOVAL_BATCH = 500;

/** Commit markers of callers' writes, `commits/{id}`, which are deleted after they expire. */
export class DatabaseCommitMarkers implements ExpiringStore {
  readonly name = 'commits';
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;

  constructor(database: () => Promise<Database>, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async expire(): Promise<number> {
    const all = (await this.database()).ref(COMMITS);
    const expired = all.orderByChild('expires_at').endAt(this.clock.now().getTime());
    return removeFound(expired.limitToFirst(REMOVAL_BATCH));
  }
}
