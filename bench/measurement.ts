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
  /** Ratio of Muster's result to the baseline's result, over all rounds. */
  readonly ratio?: Spread;
  readonly target?: Target;
  /** The measured values from which the ratio is computed. Their names include the unit. */
  readonly figures: Readonly<Record<string, Spread | number | string>>;
  /** Errors that make the benchmark fail regardless of the ratio, for example a task that was claimed twice. */
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

/** Returns whether there is no fault and the median of the rounds meets the target. */
export function passes({ ratio, target, faults }: Measurement): boolean {
  if (faults.length > 0) return false;
  if (ratio === undefined || target === undefined) return true;
  return target.kind === 'at least' ? ratio.median >= target.value : ratio.median <= target.value;
}
