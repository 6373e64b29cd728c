/** How many calls a caller may make: a token bucket for each, of which instances lease chunks. */
import type { Principal } from '../../identity/rules/principal.ts';
import { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type KernelPorts, type PortOf, Service } from '../../kernel/ports.ts';

/** At most `burst` calls at once, and `perSecond` calls a second for as long as one likes. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A principal's token bucket. Calls let through ahead of asking are paid off first, so its balance may be negative. */
export interface Bucket {
  readonly tokens: number;
  /** When it held so many, in milliseconds of the epoch. */
  readonly at: number;
}

export interface Draw {
  /** Charged in any case: what has been let through already, less what is given back. */
  readonly owed: number;
  /** How many more are asked for. */
  readonly wanted: number;
}

/** The clocks of instances differ by less. A bucket from further ahead would otherwise not fill for as long. */
const MOST_SKEW_MILLISECONDS = 60_000;

/**
 * @param bucket undefined is one that nobody has drawn from: a full one
 * @returns the bucket after it, how many of the wanted tokens there were, and the milliseconds until the bucket has a
 *   token again; 0 where it still has one
 */
export function draw(bucket: Bucket | undefined, limit: RateLimit, { owed, wanted }: Draw, now: number) {
  const { thousandths, at } = refill(bucket ?? { tokens: limit.burst, at: now }, limit, now);
  const afterDebt = Math.min(limit.burst * 1000, thousandths - owed * 1000);
  const granted = Math.min(wanted, Math.max(0, Math.floor(afterDebt / 1000)));
  const left = afterDebt - granted * 1000;
  const waitMilliseconds = Math.max(0, Math.ceil((1000 - left) / limit.perSecond));
  return { bucket: { tokens: left / 1000, at }, granted, waitMilliseconds };
}

/** In thousandths of a token, so that rounding loses nothing. Time that a slow clock has not seen is filled once. */
function refill({ tokens, at }: Bucket, { perSecond, burst }: RateLimit, now: number) {
  const since = at > now + MOST_SKEW_MILLISECONDS ? now : at;
  const added = Math.max(0, now - since) * perSecond;
  const thousandths = Math.min(burst * 1000, Math.round(tokens * 1000) + added);
  return { thousandths, at: Math.max(since, now) };
}

export type Lease = Omit<ReturnType<typeof draw>, 'bucket'>;

/** Where the deployment limits nobody. */
export const UNLIMITED: PortOf<RateLimiter> = { take: async () => undefined };

/** An instance uses the tokens that it has leased for this long, and gives the rest back with its next lease. */
export const LAPSE_MILLISECONDS = 10_000;

/** A few calls in this time are free: counting most agents' one call in a minute would write more than they do. */
const FREE_MILLISECONDS = 30_000;

/** A refusal is remembered for at least this long, so that a storm of calls asks four times a second. */
const SHORTEST_REFUSAL_MILLISECONDS = 250;

/** How often an instance tries again to lease from a bucket that it could not lease from. */
const AWAY_MILLISECONDS = 5000;

const WARNING_MILLISECONDS = 60_000;

const MAX_REMEMBERED = 10_000;

class Allowance {
  /** Calls that pass uncharged, since then. */
  free = 0;
  freeSince = Number.NEGATIVE_INFINITY;
  /** In hand, and charged to the bucket or about to be. */
  tokens = 0;
  /** Charged, and lapsed before it was spent. */
  unused = 0;
  /** How many a lease asks for: doubled where chunks do not last a second, halved where they last long. */
  chunk = 0;
  leasedAt = Number.NEGATIVE_INFINITY;
  /** The bucket had nothing when it was last asked, and is asked again from this time on. */
  refusedUntil: number | undefined;
  /** When to try again to lease from a bucket out of reach; its principal is neither refused nor kept waiting. */
  awayUntil: number | undefined;
  leasing: Promise<void> | undefined;
  /** Calls that wait for the lease. */
  waiting = 0;
}

/** Where leases are taken from buckets that all instances share. */
export interface LimitLedger {
  /** @throws Error where that takes longer than a second; at once while it is known that the database is away */
  lease(uid: string, limit: RateLimit, wanted: Draw): Promise<Lease>;
}

/**
 * Counts calls against their principal's rate. Each instance has a share of it: tokens are leased from the shared
 * bucket in chunks, so that the common call spends one that is in hand and waits for nothing. Source:
 * docs/decisions/0010-limits-trust-and-presence.md.
 */
export class RateLimiter extends Service<KernelPorts> {
  private readonly limit: RateLimit;
  private readonly ledger: LimitLedger;
  private readonly smallest: number;
  private readonly largest: number;
  private readonly free: number;
  private readonly allowances = new BoundedMap<string, Allowance>(MAX_REMEMBERED);
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

  /** @throws MusterError RATE_LIMITED, with `retryAfter` */
  async take({ uid }: Principal): Promise<void> {
    const allowance = this.allowanceOf(uid);
    if (this.passes(uid, allowance)) return;
    allowance.waiting += 1;
    try {
      do await this.leaseChunk(uid, allowance);
      while (!this.passes(uid, allowance));
    } finally {
      allowance.waiting -= 1;
    }
  }

  /** Spends a token; false if none is in hand and the bucket may have some. @throws MusterError RATE_LIMITED */
  private passes(uid: string, allowance: Allowance): boolean {
    const now = this.now();
    if (allowance.awayUntil !== undefined) {
      if (now >= allowance.awayUntil) void this.lease(uid, allowance, { owed: 1, wanted: 0 });
      return true;
    }
    if (this.isFree(allowance, now)) return true;
    this.renew(uid, allowance, now);
    const { tokens, refusedUntil } = allowance;
    const isRefused = refusedUntil !== undefined && now < refusedUntil;
    if (tokens <= 0) {
      if (isRefused) throw rateLimited(refusedUntil - now, TOO_MANY_CALLS);
      return false;
    }
    allowance.tokens -= 1;
    if (allowance.tokens <= allowance.chunk / 2 && !isRefused) void this.leaseChunk(uid, allowance);
    return true;
  }

  /** Whether a call passes uncharged: one of a principal that makes few, and has nothing in hand. */
  private isFree(allowance: Allowance, now: number): boolean {
    const { leasing, leasedAt, refusedUntil } = allowance;
    if (leasing !== undefined || refusedUntil !== undefined || now - leasedAt < LAPSE_MILLISECONDS)
      return false;
    if (now - allowance.freeSince >= FREE_MILLISECONDS) {
      allowance.freeSince = now;
      allowance.free = this.free;
    }
    if (allowance.free <= 0) return false;
    allowance.free -= 1;
    return true;
  }

  /**
   * Gives a first chunk on trust and charges it afterwards; whoever the bucket had nothing for waits for an answer, so
   * that no instance trusts twice one that is over its rate.
   */
  private renew(uid: string, allowance: Allowance, now: number): void {
    if (now - allowance.leasedAt < LAPSE_MILLISECONDS || allowance.leasing !== undefined) return;
    allowance.unused += allowance.tokens;
    allowance.tokens = 0;
    allowance.chunk = this.smallest;
    if (allowance.refusedUntil !== undefined) return;
    allowance.tokens = this.smallest;
    void this.lease(uid, allowance, { owed: this.smallest, wanted: 0 });
  }

  private leaseChunk(uid: string, allowance: Allowance): Promise<void> {
    if (allowance.leasing !== undefined) return allowance.leasing;
    const lasted = this.now() - allowance.leasedAt;
    if (lasted < 1000) allowance.chunk = Math.min(this.largest, allowance.chunk * 2);
    else if (lasted > LAPSE_MILLISECONDS / 2) {
      allowance.chunk = Math.max(this.smallest, Math.floor(allowance.chunk / 2));
    }
    const wanted = Math.max(allowance.chunk, allowance.waiting);
    return this.lease(uid, allowance, { owed: 0, wanted });
  }

  /** One lease at a time: calls that come meanwhile wait for the same. Never fails. */
  private lease(uid: string, allowance: Allowance, { owed, wanted }: Draw): Promise<void> {
    if (allowance.leasing !== undefined) return allowance.leasing;
    const { unused } = allowance;
    allowance.unused = 0;
    allowance.leasedAt = this.now();
    allowance.leasing = this.ask(uid, allowance, { owed: owed - unused, wanted }).finally(() => {
      allowance.leasing = undefined;
    });
    return allowance.leasing;
  }

  private async ask(uid: string, allowance: Allowance, draw: Draw): Promise<void> {
    try {
      const { granted, waitMilliseconds } = await this.ledger.lease(uid, this.limit, draw);
      allowance.awayUntil = undefined;
      allowance.tokens += granted;
      const wait = Math.max(SHORTEST_REFUSAL_MILLISECONDS, waitMilliseconds);
      allowance.refusedUntil = waitMilliseconds > 0 ? this.now() + wait : undefined;
    } catch (error) {
      const now = this.now();
      allowance.awayUntil = now + AWAY_MILLISECONDS;
      if (now - this.warnedAt < WARNING_MILLISECONDS) return;
      this.warnedAt = now;
      this.ports.log.warn('limits_away', { uid, error });
    }
  }

  private allowanceOf(uid: string): Allowance {
    const known = this.allowances.get(uid);
    if (known !== undefined) return known;
    const made = new Allowance();
    this.allowances.set(uid, made);
    return made;
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}

/** What is said to a caller that is refused for its rate. */
export interface Refused {
  readonly message: string;
  readonly reason: string;
  readonly suggestion: string;
}

const TOO_MANY_CALLS = {
  message: 'Too many calls in too short a time.',
  reason: 'RATE_LIMITED',
  suggestion: 'Call again',
};

/** Says in whole seconds when to call again. */
export function rateLimited(milliseconds: number, { message, reason, suggestion }: Refused): MusterError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1000));
  return new MusterError('RATE_LIMITED', message, {
    reason,
    suggestion: `${suggestion} in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}.`,
    retryAfter,
  });
}
