/**
 * How many credentials from one address an instance looks up that turn out to be none. Each look-up may cost a
 * read of the database, and whoever guesses needs many. Kept in memory alone: an attack on several instances
 * costs so much at each of them, and asking for a shared count would cost more than it saves.
 */
import { MusterError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { type Bucket, draw, type RateLimit } from './bucket.ts';

/** More at once than an instance serves requests, so that good newcomers alone never meet it. */
export const ATTEMPTS: RateLimit = { perSecond: 5, burst: 100 };

const MAX_ADDRESSES = 10_000;

export class FailedAttempts {
  private readonly clock: Clock;
  /** Least recently used first; an address without one has a full bucket. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Counts an attempt as failed until it is forgiven, so that many at once are not let through together.
   * @returns forgives it: the credential was good, or it could not be looked up
   * @throws MusterError RATE_LIMITED
   */
  begin(address: string): () => void {
    const waitMilliseconds = this.take(address);
    if (waitMilliseconds !== undefined) throw tooMany(waitMilliseconds);
    return () => this.forgive(address);
  }

  private take(address: string): number | undefined {
    const bucket = this.buckets.get(address);
    const drawn = draw(bucket, ATTEMPTS, { owed: 0, wanted: 1 }, this.clock.now().getTime());
    this.keep(address, drawn.bucket);
    return drawn.granted < 1 ? drawn.waitMilliseconds : undefined;
  }

  private forgive(address: string): void {
    const known = this.buckets.get(address);
    if (known === undefined) return;
    const { bucket } = draw(known, ATTEMPTS, { owed: -1, wanted: 0 }, this.clock.now().getTime());
    if (bucket.tokens >= ATTEMPTS.burst) this.buckets.delete(address);
    else this.keep(address, bucket);
  }

  private keep(address: string, bucket: Bucket): void {
    this.buckets.delete(address);
    const [oldest] = this.buckets.keys();
    if (this.buckets.size >= MAX_ADDRESSES && oldest !== undefined) this.buckets.delete(oldest);
    this.buckets.set(address, bucket);
  }
}

function tooMany(milliseconds: number): MusterError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1000));
  return new MusterError('RATE_LIMITED', 'Too many credentials from your address were refused.', {
    reason: 'TOO_MANY_ATTEMPTS',
    suggestion: `Look whether yours is right, and call again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
    retryAfter,
  });
}
