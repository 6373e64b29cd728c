/**
 * The token bucket of one principal, which all instances share. Its balance may be negative: what was let
 * through ahead of asking is charged all the same, and paid off before anything else is granted.
 */

/** At most `burst` calls at once, and `perSecond` calls a second for as long as one likes. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

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

export interface Drawn {
  readonly bucket: Bucket;
  /** How many of the wanted tokens there were. */
  readonly granted: number;
  /** Milliseconds until the bucket has a token again; 0 where it still has one. */
  readonly waitMilliseconds: number;
}

/** The clocks of instances differ by less. A bucket from further ahead would otherwise not fill for as long. */
const MOST_SKEW_MILLISECONDS = 60_000;

/** @param bucket undefined is one that nobody has drawn from: a full one */
export function draw(
  bucket: Bucket | undefined,
  limit: RateLimit,
  { owed, wanted }: Draw,
  now: number,
): Drawn {
  const { thousandths, at } = refill(bucket ?? { tokens: limit.burst, at: now }, limit, now);
  const afterDebt = Math.min(limit.burst * 1000, thousandths - owed * 1000);
  const granted = Math.min(wanted, Math.max(0, Math.floor(afterDebt / 1000)));
  const left = afterDebt - granted * 1000;
  const waitMilliseconds = Math.max(0, Math.ceil((1000 - left) / limit.perSecond));
  return { bucket: { tokens: left / 1000, at }, granted, waitMilliseconds };
}

/**
 * In whole thousandths of a token, which is what a millisecond adds some of: nothing is lost in rounding.
 * Time that an instance with a slow clock has not seen yet is never filled twice.
 */
function refill({ tokens, at }: Bucket, { perSecond, burst }: RateLimit, now: number) {
  const since = at > now + MOST_SKEW_MILLISECONDS ? now : at;
  const added = Math.max(0, now - since) * perSecond;
  const thousandths = Math.min(burst * 1000, Math.round(tokens * 1000) + added);
  return { thousandths, at: Math.max(since, now) };
}
