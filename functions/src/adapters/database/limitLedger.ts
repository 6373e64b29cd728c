/** The buckets of the rate limits: `limits/{uid}` = `{tokens, at}`, `at` in milliseconds of the epoch. */
import type { Database } from 'firebase-admin/database';
import { inTime } from '../../domain/deadline.ts';
import { type Bucket, type Draw, draw, type RateLimit } from '../../domain/limits/bucket.ts';
import type { Lease, LimitLedger } from '../../domain/limits/limiter.ts';
import type { Clock } from '../../domain/ports.ts';
import type { Expiring } from '../../domain/sweep/part.ts';
import { removeFound } from './expiry.ts';
import { LIMITS, limitPath } from './paths.ts';
import { Patience, stillAway } from './patience.ts';
import { probeRealtimeDatabase } from './probe.ts';

/** A bucket that nobody has drawn from for a day is full, as one is that does not exist. */
const IDLE_MILLISECONDS = 24 * 3_600_000;

const MAX_REMOVED_AT_ONCE = 500;

/** How long a call is held up by its limit. */
const LEASE_MILLISECONDS = 1000;

export class DatabaseLimitLedger implements LimitLedger, Expiring {
  readonly name = 'limits';
  private readonly database: () => Promise<Database>;
  private readonly clock: Clock;
  /** With the database itself: a bucket that many fight for says nothing about the others. */
  private readonly patience = new Patience();
  private probing: Promise<void> | undefined;

  constructor(database: () => Promise<Database>, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  async lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease> {
    if (this.patience.isOverdue) throw stillAway();
    const late = new AbortController();
    try {
      const leasing = this.transact(uid, limit, wanted, late.signal);
      return await inTime(leasing, LEASE_MILLISECONDS, 'The bucket');
    } catch (error) {
      late.abort();
      this.findOutWhetherAway();
      throw error;
    }
  }

  /** Nobody waits for this. While it is not answered nobody waits for a lease either. */
  private findOutWhetherAway(): void {
    this.probing ??= this.patience
      .waitFor(() => probeRealtimeDatabase(this.database))
      .catch(() => undefined)
      .finally(() => {
        this.probing = undefined;
      });
  }

  /** Removes buckets that have long been full again. Tells how many. */
  async expire(): Promise<number> {
    const database = await this.database();
    const before = this.clock.now().getTime() - IDLE_MILLISECONDS;
    return removeFound(
      database.ref(LIMITS).orderByChild('at').endAt(before).limitToFirst(MAX_REMOVED_AT_ONCE),
    );
  }

  private async transact(uid: string, limit: RateLimit, wanted: Draw, late: AbortSignal): Promise<Lease> {
    const reference = (await this.database()).ref(limitPath(uid));
    let lease: Lease | undefined;
    const charge = (stored: unknown): Bucket | undefined => {
      if (late.aborted) return undefined;
      const { bucket, ...rest } = draw(bucketIn(stored), limit, wanted, this.clock.now().getTime());
      lease = rest;
      return bucket;
    };
    const { committed } = await reference.transaction(charge, undefined, false);
    if (!committed || lease === undefined) throw new Error('The lease came too late.');
    return lease;
  }
}

/** What somebody has broken by hand counts as a bucket that nobody has drawn from. */
export function bucketIn(value: unknown): Bucket | undefined {
  const isBucket = typeof value === 'object' && value !== null && 'tokens' in value && 'at' in value;
  if (!isBucket || typeof value.tokens !== 'number' || typeof value.at !== 'number') return undefined;
  return { tokens: value.tokens, at: value.at };
}
