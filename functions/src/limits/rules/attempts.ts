/** Limits per address for attempts that are costly and need no credential. */
import type { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Bucket, draw, type RateLimit, type Refused, rateLimited } from './rateLimiter.ts';

const MAX_ADDRESSES = 10_000;

/**
 * Attempts that all unknown addresses share on an instance, as a multiple of one address's limit. Attackers get many
 * addresses cheaply. So few newcomers never evict a cached address whose bucket is not full.
 */
const NEWCOMERS = 20;

/** Number of attempts over the limit that an instance runs concurrently. */
const OVER_LIMIT_AT_ONCE = 4;

export interface Attempt {
  /** The error for an attempt over the limit; undefined within it. */
  readonly refusal: MusterError | undefined;
  /** Runs a credential check: immediately within the limit, in a bounded queue over it. */
  check<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Removes the attempt from the count, because it was valid or its outcome is unknown. */
  forgive(): void;
}

/** Counts attempts per address in an instance's memory. A shared count would cost more than it saves. */
export class Attempts {
  /** Least recently used first. An address without a bucket has a full one. */
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_ADDRESSES);
  /** Shared by all addresses without a bucket. */
  private newcomers: Bucket | undefined;
  private readonly limit: RateLimit;
  private readonly newcomersLimit: RateLimit;
  private readonly refused: Refused;
  private readonly lane = new Lane(OVER_LIMIT_AT_ONCE);

  /** @param refused error texts for an address over its limit */
  constructor(limit: RateLimit, refused: Refused) {
    this.limit = limit;
    this.newcomersLimit = { perSecond: limit.perSecond * NEWCOMERS, burst: limit.burst * NEWCOMERS };
    this.refused = refused;
  }

  /**
   * Counts an attempt that needs no credential, until the returned function forgives it.
   * @param now milliseconds of the epoch
   * @throws MusterError RATE_LIMITED
   */
  count(address: string, now: number): () => void {
    const { refusal, forgive } = this.attempt(address, now);
    if (refusal !== undefined) throw refusal;
    return forgive;
  }

  /**
   * Counts an attempt with a credential, until it is forgiven. Only a lookup shows whether a credential is valid, so
   * an address over its limit has slower lookups instead of none.
   * @param now milliseconds of the epoch
   */
  attempt(address: string, now: number): Attempt {
    const { buckets, limit, lane } = this;
    const isNewcomer = buckets.get(address) === undefined;
    const wait = isNewcomer ? this.drawAsNewcomer(1, now) : 0;
    const drawn = draw(buckets.get(address), limit, { owed: 0, wanted: 1 }, now);
    if (wait === 0) buckets.set(address, drawn.bucket);
    if (wait > 0 || drawn.granted < 1)
      return {
        refusal: rateLimited(wait || drawn.waitMilliseconds, this.refused),
        check: (run) => lane.run(run),
        forgive: () => undefined,
      };
    return {
      refusal: undefined,
      check: (run) => run(),
      forgive: () => {
        if (isNewcomer) this.drawAsNewcomer(-1, now);
        const known = buckets.get(address);
        if (known === undefined) return;
        const { bucket } = draw(known, limit, { owed: -1, wanted: 0 }, now);
        if (bucket.tokens >= limit.burst) buckets.delete(address);
        else buckets.set(address, bucket);
      },
    };
  }

  /** Draws from the shared bucket of newcomers. @returns milliseconds until the next attempt; 0 if there was one */
  private drawAsNewcomer(attempts: 1 | -1, now: number): number {
    const wish = attempts === 1 ? { owed: 0, wanted: 1 } : { owed: -1, wanted: 0 };
    const drawn = draw(this.newcomers, this.newcomersLimit, wish, now);
    this.newcomers = drawn.bucket;
    return drawn.granted < wish.wanted ? drawn.waitMilliseconds : 0;
  }
}

/** Runs a limited number of jobs concurrently, and queues the rest first in, first out. */
export class Lane {
  private readonly most: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(most: number) {
    this.most = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.most) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The next job takes over this slot.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
