/** Lease of the process that corrects counters. Two processes could both measure and add the same difference. */
import { randomUUID } from 'node:crypto';
import { type Firestore, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { sweepPath } from '../../functions/src/kernel/firestore/paths.ts';

/** Longer than a measurement and its commit. If the process crashes, other processes wait until the lease ends. */
const LEASE_MS = 120_000;
const stored = z.object({ holder: z.string(), until: z.instanceof(Timestamp) });

export class RebuildLease {
  private readonly holder = randomUUID();
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  /** Takes or renews the lease. @throws Error if another process holds the lease */
  async hold(): Promise<void> {
    await this.database.runTransaction(async (transaction) => {
      const { data } = stored.safeParse((await transaction.get(this.document)).data());
      const isTaken = data !== undefined && data.holder !== this.holder && data.until.toMillis() > Date.now();
      if (isTaken)
        throw new Error(
          `Another process is correcting counters. Wait until it has ended, or until ${data.until.toDate().toISOString()}.`,
        );
      const until = Timestamp.fromMillis(Date.now() + LEASE_MS);
      transaction.set(this.document, { holder: this.holder, until });
    });
  }

  async release(): Promise<void> {
    await this.document.delete();
  }

  private get document() {
    return this.database.doc(sweepPath('rebuild'));
  }
}
