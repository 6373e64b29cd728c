/** One process at a time sets counters right: two that have measured the same would both add what is missing. */
import { randomUUID } from 'node:crypto';
import { type Firestore, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { sweepPath } from '../../functions/src/kernel/firestore/paths.ts';

/** Longer than one measurement with its commit; where the process is killed others wait as long. */
const LEASE_MILLISECONDS = 120_000;

const stored = z.object({ holder: z.string(), until: z.instanceof(Timestamp) });

export class RebuildLease {
  private readonly holder = randomUUID();
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  /** Takes it, or goes on holding it. @throws Error where another process has it */
  async hold(): Promise<void> {
    await this.database.runTransaction(async (transaction) => {
      const { data } = stored.safeParse((await transaction.get(this.document)).data());
      const isTaken = data !== undefined && data.holder !== this.holder && data.until.toMillis() > Date.now();
      if (isTaken)
        throw new Error(
          `Counters are being set right by another process, until ${data.until.toDate().toISOString()} at least. Wait for it.`,
        );
      const until = Timestamp.fromMillis(Date.now() + LEASE_MILLISECONDS);
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
