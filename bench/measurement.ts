/** Result of a benchmark, and whether it meets its targets. */
import { z } from 'zod';

const spreadSchema = z.object({ min: z.number(), median: z.number(), max: z.number() });
const targetSchema = z.object({ kind: z.enum(['at least', 'at most']), value: z.number() });
const figureSchema = z.union([spreadSchema, z.number(), z.string()]);

export type Spread = z.infer<typeof spreadSchema>;
export type Target = z.infer<typeof targetSchema>;
export type Figure = z.infer<typeof figureSchema>;
export type Measurement = z.infer<typeof measurementSchema>;

export const measurementSchema = z.object({
  name: z.string(),
  title: z.string(),
  /** Ratio of Muster's result to the baseline's result, over all rounds. */
  ratio: spreadSchema.exactOptional(),
  target: targetSchema.exactOptional(),
  /** The measured values from which the ratio is computed. Their names include the unit. */
  figures: z.record(z.string(), figureSchema),
  /** Targets of figures, by the figure's name. */
  figureTargets: z.record(z.string(), targetSchema).exactOptional(),
  /** Reason why a target is missed, if the reason is known. It is shown only if a target is missed. */
  reason: z.string().exactOptional(),
  /** Errors that make the benchmark fail regardless of the ratio, for example a task that was claimed twice. */
  faults: z.array(z.string()).readonly().exactOptional(),
});

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (min === undefined || max === undefined) throw new Error('Cannot compute the median of no values.');
  return { min, median: quantile(sorted, 0.5), max };
}

export function median(values: readonly number[]): number {
  return spread(values).median;
}

export function percentile(values: readonly number[], share: number): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    share,
  );
}

/** Returns a quantile, interpolated between the two nearest values. */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** A value that has a target: the ratio, or a figure. */
export interface Judged {
  readonly what: string;
  readonly spread: Spread;
  readonly target: Target;
}

export function judgedOf({ ratio, target, figures, figureTargets = {} }: Measurement): readonly Judged[] {
  const whole = ratio && target ? [{ what: 'ratio', spread: ratio, target }] : [];
  const parts = Object.entries(figureTargets).flatMap(([what, target]) => {
    const figure = figures[what];
    if (figure === undefined || typeof figure === 'string') return [];
    return [{ what, spread: typeof figure === 'number' ? spread([figure]) : figure, target }];
  });
  return [...whole, ...parts];
}

export function meets({ median }: Spread, { kind, value }: Target): boolean {
  return kind === 'at least' ? median >= value : median <= value;
}

/** Returns whether the median of each value that has a target meets this target. */
export function isOnTarget(measurement: Measurement): boolean {
  return judgedOf(measurement).every(({ spread, target }) => meets(spread, target));
}
