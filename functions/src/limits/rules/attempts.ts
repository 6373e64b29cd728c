/** Limits per address for attempts that are costly and need no credential. */
import type { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Bucket, draw, type RateLimit, type RejectionText, rateLimited } from './rateLimiter.ts';

const MAX_ADDRESSES = 10_000;

/**
 * Attempts that all unknown addresses share on an instance, as a multiple of one address's limit. Attackers get many
 * addresses cheaply. So few newcomers never evict a cached address whose bucket is not full.
 */
const NEW_ADDRESS_KEY = 20;

/** Number of attempts over the limit that an instance runs concurrently. */
const MAX_CONCURRENT_OVER_LIMIT = 4;

export interface Attempt {
  /** The error for an attempt over the limit; undefined within it. */
  readonly rejection: MusterError | undefined;
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
  private newAddresses: Bucket | undefined;
  private readonly limit: RateLimit;
  private readonly newAddressLimit: RateLimit;
  private readonly rejectionMessage: RejectionText;
  private readonly queue = new SerialQueue(MAX_CONCURRENT_OVER_LIMIT);

  /** @param refused error texts for an address over its limit */
  constructor(limit: RateLimit, refused: RejectionText) {
    this.limit = limit;
    this.newAddressLimit = { perSecond: limit.perSecond * NEW_ADDRESS_KEY, burst: limit.burst * NEW_ADDRESS_KEY };
    this.rejectionMessage = refused;
  }

  /**
   * Counts an attempt that needs no credential, until the returned function forgives it.
   * @param now milliseconds of the epoch
   * @throws MusterError RATE_LIMITED
   */
  count(address: string, now: number): () => void {
    const { rejection, forgive } = this.attempt(address, now);
    if (rejection !== undefined) throw rejection;
    return forgive;
  }

  /**
   * Counts an attempt with a credential, until it is forgiven. Only a lookup shows whether a credential is valid, so
   * an address over its limit has slower lookups instead of none.
   * @param now milliseconds of the epoch
   */
  attempt(address: string, now: number): Attempt {
    const { buckets, limit, queue } = this;
    const isNewcomer = buckets.get(address) === undefined;
    const wait = isNewcomer ? this.drawAsNewAddress(1, now) : 0;
    const drawn = draw(buckets.get(address), limit, { owed: 0, wanted: 1 }, now);
    if (wait === 0) buckets.set(address, drawn.bucket);
    if (wait > 0 || drawn.granted < 1)
      return {
        rejection: rateLimited(wait || drawn.waitMilliseconds, this.rejectionMessage),
        check: (run) => queue.run(run),
        forgive: () => undefined,
      };
    return {
      rejection: undefined,
      check: (run) => run(),
      forgive: () => {
        if (isNewcomer) this.drawAsNewAddress(-1, now);
        const known = buckets.get(address);
        if (known === undefined) return;
        const { bucket } = draw(known, limit, { owed: -1, wanted: 0 }, now);
        if (bucket.tokens >= limit.burst) buckets.delete(address);
        else buckets.set(address, bucket);
      },
    };
  }

  /** Draws from the shared bucket of newcomers. @returns milliseconds until the next attempt; 0 if there was one */
  private drawAsNewAddress(attempts: 1 | -1, now: number): number {
    const wish = attempts === 1 ? { owed: 0, wanted: 1 } : { owed: -1, wanted: 0 };
    const drawn = draw(this.newAddresses, this.newAddressLimit, wish, now);
    this.newAddresses = drawn.bucket;
    return drawn.granted < wish.wanted ? drawn.waitMilliseconds : 0;
  }
}

/** Runs a limited number of jobs concurrently, and queues the rest first in, first out. */
export class SerialQueue {
  private readonly maxWaiting: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(most: number) {
    this.maxWaiting = most;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.maxWaiting) this.running += 1;
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
