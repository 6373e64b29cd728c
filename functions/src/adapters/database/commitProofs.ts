/** `commits/{id}`: proofs of writes that callers made, kept until nobody asks for them. */
import type { Database } from 'firebase-admin/database';
import type { Clock } from '../../domain/ports.ts';
import type { Expiring } from '../../domain/sweep/part.ts';
import { removeFound } from './expiry.ts';
import { COMMITS } from './paths.ts';

const REMOVED_AT_ONCE = 500;

/** Callers may write more of them in a minute than one removal takes away. */
const MAX_REMOVALS = 20;

export class DatabaseCommitProofs implements Expiring {
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
    let removed = 0;
    for (let count = 0; count < MAX_REMOVALS; count++) {
      const found = await removeFound(expired.limitToFirst(REMOVED_AT_ONCE));
      removed += found;
      if (found < REMOVED_AT_ONCE) break;
    }
    return removed;
  }
}
