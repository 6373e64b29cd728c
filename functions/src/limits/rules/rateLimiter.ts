/** Rate limiter with one token bucket per caller. Instances lease several tokens at a time from the bucket. */
import type { Principal } from '../../identity/rules/principal.ts';
import { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type KernelPorts, type PortOf, Service } from '../../kernel/ports.ts';

/** A caller can make `burst` calls in quick succession, and `perSecond` calls per second on average. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Token bucket of a caller. Some calls run before they are charged, so the balance can be negative. */
export interface Bucket {
  readonly tokens: number;
  /** Time at which the bucket had this balance, in milliseconds since the epoch. */
  readonly at: number;
}

export interface Draw {
  /** Tokens that are charged even if the bucket is empty: tokens of past calls, minus returned tokens. */
  readonly owed: number;
  /** Number of tokens requested in addition to the owed ones. They are granted only if the bucket has them. */
  readonly wanted: number;
}

/** Maximum clock difference between instances. If the time of a bucket is further ahead, the current time is used. */
const MAX_SKEW_MS = 60_000;

/**
 * Takes tokens from a bucket.
 * @param bucket undefined if the bucket was never used and is therefore full
 * @returns the new bucket, the tokens granted, and the milliseconds until the bucket has a token (0 if it has one)
 */
export function draw(bucket: Bucket | undefined, limit: RateLimit, { owed, wanted }: Draw, now: number) {
  const { thousandths, at } = refill(bucket ?? { tokens: limit.burst, at: now }, limit, now);
  const afterDebt = Math.min(limit.burst * 1000, thousandths - owed * 1000);
  const granted = Math.min(wanted, Math.max(0, Math.floor(afterDebt / 1000)));
  const left = afterDebt - granted * 1000;
  const waitMilliseconds = Math.max(0, Math.ceil((1000 - left) / limit.perSecond));
  return { bucket: { tokens: left / 1000, at }, granted, waitMilliseconds };
}

/** Refills a bucket. The unit is a thousandth of a token, so that rounding loses nothing. */
function refill({ tokens, at }: Bucket, { perSecond, burst }: RateLimit, now: number) {
  const since = at > now + MAX_SKEW_MS ? now : at;
  const added = Math.max(0, now - since) * perSecond;
  const thousandths = Math.min(burst * 1000, Math.round(tokens * 1000) + added);
  return { thousandths, at: Math.max(since, now) };
}

export type Lease = Omit<ReturnType<typeof draw>, 'bucket'>;
export const UNLIMITED: PortOf<RateLimiter> = { take: async () => undefined };

/** Time after which leased tokens expire. With its next lease, an instance returns its expired tokens. */
export const LEASE_EXPIRY_MS = 10_000;

/** Period in which a few calls per caller are free, because charging agents that call once a minute is costly. */
const FREE_PERIOD_MS = 30_000;

/** Minimum time for which a refusal is cached, so that many refused calls cause at most four leases per second. */
const MIN_REJECTION_MS = 250;

/** Time after a failed lease until the next attempt, in milliseconds. */
const UNAVAILABLE_RETRY_MS = 5000;
const WARNING_INTERVAL_MS = 60_000;
const MAX_TRACKED_CALLERS = 10_000;

class TokenLease {
  /** Number of free calls that are left in the period that started at `freeSince`. */
  free = 0;
  freeSince = Number.NEGATIVE_INFINITY;
  /** Available tokens. The bucket was charged for them, or will be soon. */
  tokens = 0;
  /** Tokens that were charged to the bucket and expired unused. The next lease returns them. */
  unused = 0;
  /** Tokens per lease. Doubled if they are used up within a second, and halved if they last long. */
  chunk = 0;
  leasedAt = Number.NEGATIVE_INFINITY;
  /** Time from which the next lease is attempted. Set if the bucket was empty at the last lease. */
  rejectedUntil: number | undefined;
  /** Time of the next attempt, set if the bucket is unreachable. Until then, the caller's calls are not limited. */
  unavailableUntil: number | undefined;
  leasing: Promise<void> | undefined;
  waiting = 0;
}

/** Stores the buckets, which all instances share. */
export interface LimitLedger {
  /** Error after a second without a response, or immediately while the database is known to be unreachable */
  lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease>;
}

/**
 * Limits the calls of each caller. Instances lease several tokens at a time from the shared bucket. Most calls then
 * use a token in memory and need not wait. Source: docs/decisions/0010-limits-trust-and-presence.md.
 */
export class RateLimiter extends Service<KernelPorts> {
  private readonly limit: RateLimit;
  private readonly ledger: LimitLedger;
  private readonly smallest: number;
  private readonly largest: number;
  private readonly free: number;
  private readonly leases = new BoundedMap<string, TokenLease>(MAX_TRACKED_CALLERS);
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(limit: RateLimit, ledger: LimitLedger, ports: KernelPorts) {
    super(ports);
    const { perSecond, burst } = limit;
    this.limit = limit;
    this.ledger = ledger;
    this.largest = Math.max(1, Math.floor(Math.min(perSecond, burst / 5)));
    this.smallest = Math.max(1, Math.floor(this.largest / 10));
    this.free = Math.floor(this.smallest / 2);
  }

  /** MusterError RATE_LIMITED with `retryAfter` */
  async take({ uid }: Principal): Promise<void> {
    const allowance = this.leaseOf(uid);
    if (this.isAllowed(uid, allowance)) return;
    allowance.waiting += 1;
    try {
      do await this.leaseChunk(uid, allowance);
      while (!this.isAllowed(uid, allowance));
    } finally {
      allowance.waiting -= 1;
    }
  }

  /** Uses a token. Returns false if no token is left, so that a lease is needed. @throws MusterError RATE_LIMITED */
  private isAllowed(uid: string, allowance: TokenLease): boolean {
    const now = this.now();
    if (allowance.unavailableUntil !== undefined) {
      if (now >= allowance.unavailableUntil) void this.lease(uid, allowance, { owed: 1, wanted: 0 });
      return true;
    }
    if (this.isFree(allowance, now)) return true;
    this.renew(uid, allowance, now);
    const { tokens, rejectedUntil } = allowance;
    const isRefused = rejectedUntil !== undefined && now < rejectedUntil;
    if (tokens <= 0) {
      if (isRefused) throw rateLimited(rejectedUntil - now, TOO_MANY_CALLS);
      return false;
    }
    allowance.tokens -= 1;
    if (allowance.tokens <= allowance.chunk / 2 && !isRefused) void this.leaseChunk(uid, allowance);
    return true;
  }

  /** Returns whether a call needs no token: its caller calls rarely and holds no leased tokens. */
  private isFree(allowance: TokenLease, now: number): boolean {
    const { leasing, leasedAt, rejectedUntil } = allowance;
    if (leasing !== undefined || rejectedUntil !== undefined || now - leasedAt < LEASE_EXPIRY_MS) return false;
    if (now - allowance.freeSince >= FREE_PERIOD_MS) {
      allowance.freeSince = now;
      allowance.free = this.free;
    }
    if (allowance.free <= 0) return false;
    allowance.free -= 1;
    return true;
  }

  /**
   * Grants some tokens immediately, and charges them afterwards. If the caller's bucket was empty before, the call
   * waits for the lease, because a caller over its limit gets no tokens in advance.
   */
  private renew(uid: string, allowance: TokenLease, now: number): void {
    if (now - allowance.leasedAt < LEASE_EXPIRY_MS || allowance.leasing !== undefined) return;
    allowance.unused += allowance.tokens;
    allowance.tokens = 0;
    allowance.chunk = this.smallest;
    if (allowance.rejectedUntil !== undefined) return;
    allowance.tokens = this.smallest;
    void this.lease(uid, allowance, { owed: this.smallest, wanted: 0 });
  }

  private leaseChunk(uid: string, allowance: TokenLease): Promise<void> {
    if (allowance.leasing !== undefined) return allowance.leasing;
    const lasted = this.now() - allowance.leasedAt;
    if (lasted < 1000) allowance.chunk = Math.min(this.largest, allowance.chunk * 2);
    else if (lasted > LEASE_EXPIRY_MS / 2) {
      allowance.chunk = Math.max(this.smallest, Math.floor(allowance.chunk / 2));
    }
    const wanted = Math.max(allowance.chunk, allowance.waiting);
    return this.lease(uid, allowance, { owed: 0, wanted });
  }

  /** Leases tokens. Concurrent calls share one lease. Never fails. */
  private lease(uid: string, allowance: TokenLease, { owed, wanted }: Draw): Promise<void> {
    if (allowance.leasing !== undefined) return allowance.leasing;
    const { unused } = allowance;
    allowance.unused = 0;
    allowance.leasedAt = this.now();
    allowance.leasing = this.requestLease(uid, allowance, { owed: owed - unused, wanted }).finally(() => {
      allowance.leasing = undefined;
    });
    return allowance.leasing;
  }

  private async requestLease(uid: string, allowance: TokenLease, draw: Draw): Promise<void> {
    try {
      const { granted, waitMilliseconds } = await this.ledger.lease(uid, this.limit, draw);
      allowance.unavailableUntil = undefined;
      allowance.tokens += granted;
      const wait = Math.max(MIN_REJECTION_MS, waitMilliseconds);
      allowance.rejectedUntil = waitMilliseconds > 0 ? this.now() + wait : undefined;
    } catch (error) {
      const now = this.now();
      allowance.unavailableUntil = now + UNAVAILABLE_RETRY_MS;
      if (now - this.warnedAt < WARNING_INTERVAL_MS) return;
      this.warnedAt = now;
      this.ports.log.warn('limits_away', { uid, error });
    }
  }

  private leaseOf(uid: string): TokenLease {
    const known = this.leases.get(uid);
    if (known !== undefined) return known;
    const made = new TokenLease();
    this.leases.set(uid, made);
    return made;
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}

export interface RejectionText {
  readonly message: string;
  readonly reason: string;
  readonly suggestion: string;
}

const TOO_MANY_CALLS = { message: 'Rate limit exceeded.', reason: 'RATE_LIMITED', suggestion: 'Retry' };

/** Returns an error that states the number of whole seconds after which the caller can retry. */
export function rateLimited(milliseconds: number, { message, reason, suggestion }: RejectionText): MusterError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1000));
  return new MusterError('RATE_LIMITED', message, {
    reason,
    suggestion: `${suggestion} in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
    retryAfter,
  });
}
