/** Limits how often an address can cause costly work that requires no valid credential. */
import type { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Bucket, draw, type RateLimit, type RejectionText, rateLimited } from './rateLimiter.ts';

const MAX_ADDRESSES = 10_000;

/**
 * All addresses that are new to an instance share one limit, which is this multiple of the limit of one address. Even
 * an attacker with many addresses then makes too few attempts to evict a known address that is in use.
 */
const NEW_ADDRESSES_FACTOR = 20;

/** Number of attempts over the limit that an instance runs at the same time. */
const MAX_CONCURRENT_OVER_LIMIT = 4;

export interface Attempt {
  /** Error for an attempt over the limit; undefined if the attempt is within the limit. */
  readonly rejection: MusterError | undefined;
  /** Runs a credential check: immediately if the attempt is within the limit, otherwise in a queue. */
  check<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Stops counting the attempt, because the credential was valid or the outcome is unknown. */
  forgive(): void;
}

/** Counts attempts per address in the memory of one instance. A count shared by instances would cost too much. */
export class Attempts {
  /** Buckets by address, least recently used first. An address that is missing here has a full bucket. */
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_ADDRESSES);
  /** Bucket that all addresses without their own bucket share. */
  private newAddresses: Bucket | undefined;
  private readonly limit: RateLimit;
  private readonly newAddressLimit: RateLimit;
  private readonly rejectionMessage: RejectionText;
  private readonly queue = new SerialQueue(MAX_CONCURRENT_OVER_LIMIT);

  /** @param refused text of the error for an address over its limit */
  constructor(limit: RateLimit, refused: RejectionText) {
    this.limit = limit;
    this.newAddressLimit = {
      perSecond: limit.perSecond * NEW_ADDRESSES_FACTOR,
      burst: limit.burst * NEW_ADDRESSES_FACTOR,
    };
    this.rejectionMessage = refused;
  }

  /** Counts an attempt; the result undoes that. @param now epoch milliseconds @throws MusterError RATE_LIMITED */
  count(address: string, now: number): () => void {
    const { rejection, forgive } = this.attempt(address, now);
    if (rejection !== undefined) throw rejection;
    return forgive;
  }

  /**
   * Counts an attempt with a credential until `forgive` is called. Only a lookup shows whether a credential is valid.
   * An address over its limit therefore gets slower lookups, and is not refused.
   * @param now in milliseconds since the epoch
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

  /** Takes an attempt from the bucket of new addresses. @returns milliseconds until the next attempt; 0 on success */
  private drawAsNewAddress(attempts: 1 | -1, now: number): number {
    const wish = attempts === 1 ? { owed: 0, wanted: 1 } : { owed: -1, wanted: 0 };
    const drawn = draw(this.newAddresses, this.newAddressLimit, wish, now);
    this.newAddresses = drawn.bucket;
    return drawn.granted < wish.wanted ? drawn.waitMilliseconds : 0;
  }
}

/** Runs at most a fixed number of jobs at the same time. Other jobs wait in a queue, first in, first out. */
export class SerialQueue {
  private readonly maxWaiting: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(max: number) {
    this.maxWaiting = max;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.maxWaiting) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The next job in the queue takes the place of the finished job.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
