/** How often an address may try what costs something and needs no credential. */
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Bucket, draw, type RateLimit, type Refused, rateLimited } from './rateLimiter.ts';

const MAX_ADDRESSES = 10_000;

/**
 * Counts by address, in the memory of one instance alone: an attack on several costs so much at each of them, and
 * asking for a shared count would cost more than it saves.
 */
export class Attempts {
  /** Least recently used first; an address without one has a full bucket. */
  private readonly buckets = new BoundedMap<string, Bucket>(MAX_ADDRESSES);
  private readonly limit: RateLimit;
  private readonly refused: Refused;

  /** @param refused what is said to an address that tries too often */
  constructor(limit: RateLimit, refused: Refused) {
    this.limit = limit;
    this.refused = refused;
  }

  /**
   * Counts an attempt, until it is forgiven, so that many at once are not let through together.
   * @param now milliseconds of the epoch
   * @returns forgives it: it was a good one, or nobody could tell
   * @throws MusterError RATE_LIMITED
   */
  count(address: string, now: number): () => void {
    const { buckets, limit } = this;
    const drawn = draw(buckets.get(address), limit, { owed: 0, wanted: 1 }, now);
    buckets.set(address, drawn.bucket);
    if (drawn.granted < 1) throw rateLimited(drawn.waitMilliseconds, this.refused);
    return () => {
      const known = buckets.get(address);
      if (known === undefined) return;
      const { bucket } = draw(known, limit, { owed: -1, wanted: 0 }, now);
      if (bucket.tokens >= limit.burst) buckets.delete(address);
      else buckets.set(address, bucket);
    };
  }
}
