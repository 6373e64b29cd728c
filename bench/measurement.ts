/** What a benchmark finds, and whether that is good enough. */

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
  /** Of the ratios of the rounds: ours to the baseline's. */
  readonly ratio?: Spread;
  readonly target?: Target;
  /** What the ratio is made of, in units of their own. */
  readonly figures: Readonly<Record<string, Spread | number | string>>;
  /** What is wrong whatever the ratio: a task claimed twice, a page out of date. */
  readonly faults: readonly string[];
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new Error('There is nothing to take the median of.');
  return { min, median: quantile(sorted, 0.5), max };
}

export function median(values: readonly number[]): number {
  return spread(values).median;
}

/** Between the two nearest where it falls between them. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** The median decides: one disturbed round should not. */
export function passes({ ratio, target, faults }: Measurement): boolean {
  if (faults.length > 0) return false;
  if (ratio === undefined || target === undefined) return true;
  return target.kind === 'at least' ? ratio.median >= target.value : ratio.median <= target.value;
}
