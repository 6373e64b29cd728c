/** How often an address may try what costs something and needs no credential. */
import type { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Bucket, draw, type RateLimit, type Refused, rateLimited } from './rateLimiter.ts';

const MAX_ADDRESSES = 10_000;

/**
 * How many addresses' worth of attempts all newcomers have together at an instance. Many addresses cost an attacker
 * little. A remembered address whose bucket is not full is never evicted by so few newcomers.
 */
const NEWCOMERS = 20;

/** How many attempts over the limit an instance carries out at once. */
const OVER_LIMIT_AT_ONCE = 4;

export interface Attempt {
  /** The error for an attempt over the limit; undefined within it. */
  readonly refusal: MusterError | undefined;
  /** Runs a check of a credential: immediately within the limit, one after another over it. */
  check<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Takes the attempt off the count, because it was a good one or its outcome is unknown. */
  forgive(): void;
}

/** Counts by address in the memory of one instance: a shared count would cost more than it saves. */
export class Attempts {
  /** Least recently used first; an address without one has a full bucket. */
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_ADDRESSES);
  /** Shared by all addresses without a bucket. */
  private newcomers: Bucket | undefined;
  private readonly limit: RateLimit;
  private readonly newcomersLimit: RateLimit;
  private readonly refused: Refused;
  private readonly lane = new Lane(OVER_LIMIT_AT_ONCE);

  /** @param refused what is said to an address that tries too often */
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
   * Counts an attempt with a credential, until it is forgiven. Only a look-up tells a good credential from a bad one,
   * so an address over its limit slows down the look-ups of others behind it and does not prevent them.
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

  /** Draws from the newcomers' bucket. @returns milliseconds until it has an attempt again; 0 if it had one */
  private drawAsNewcomer(attempts: 1 | -1, now: number): number {
    const wish = attempts === 1 ? { owed: 0, wanted: 1 } : { owed: -1, wanted: 0 };
    const drawn = draw(this.newcomers, this.newcomersLimit, wish, now);
    this.newcomers = drawn.bucket;
    return drawn.granted < wish.wanted ? drawn.waitMilliseconds : 0;
  }
}

/** Runs a limited number of works at once; further ones wait for their turn, in the order in which they came. */
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
      // The next one inherits the place.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
