/** Result of a benchmark, and whether it meets its target. */

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export interface Target {
  readonly kind: 'at least' | 'at most';
  readonly value: number;
}

export interface Measurement {
  readonly name: string;
  readonly title: string;
  /** Ratio of ours to the baseline, over the rounds. */
  readonly ratio?: Spread;
  readonly target?: Target;
  /** Values behind the ratio, with their units in the names. */
  readonly figures: Readonly<Record<string, Spread | number | string>>;
  /** Faults regardless of the ratio: a task claimed twice, an outdated page. */
  readonly faults: readonly string[];
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new Error('Cannot compute the median of no values.');
  return { min, median: quantile(sorted, 0.5), max };
}

export function median(values: readonly number[]): number {
  return spread(values).median;
}

/** Returns a quantile, interpolated between the two nearest values. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Compares the median, so that one disturbed round does not matter. */
export function passes({ ratio, target, faults }: Measurement): boolean {
  if (faults.length > 0) return false;
  if (ratio === undefined || target === undefined) return true;
  return target.kind === 'at least' ? ratio.median >= target.value : ratio.median <= target.value;
}
