/** Points of the charts, from the stored minutes and days. */
import type { z } from 'zod/mini';
import { BUCKETS } from '../../../../functions/src/limits/rules/latency.ts';
import type { countsNode, timeNode } from '../../live/documents.ts';

export type Span = 'hour' | 'day' | 'fortnight';
export type Counts = z.output<typeof countsNode>;
type Stored = z.output<typeof timeNode>;

export interface Point {
  readonly at: Date;
  readonly counts: Counts;
  readonly tools: Readonly<Record<string, Counts>>;
  /** Cost in US dollars; only days have one. */
  readonly dollars: number;
}

const MINUTE = 60_000;
const SPANS = {
  hour: { step: MINUTE, length: 60 },
  day: { step: 60 * MINUTE, length: 24 },
  fortnight: { step: 24 * 60 * MINUTE, length: 14 },
} as const;

const NONE: Counts = { calls: 0, failures: 0, milliseconds: 0, errors: {}, latencies: {} };

/**
 * Returns a point for each minute, hour or day of the span, oldest first, also for those without calls.
 * @param stored by key, such as `202611220124` for a minute or `20261122` for a day, in UTC
 */
export function pointsOf(span: Span, stored: Readonly<Record<string, Stored>>, now: number): readonly Point[] {
  const { step, length } = SPANS[span];
  const last = Math.floor(now / step);
  const grouped = new Map<number, Stored[]>();
  for (const [key, one] of Object.entries(stored)) {
    const at = Math.floor(timeOf(key).getTime() / step);
    grouped.set(at, [...(grouped.get(at) ?? []), one]);
  }
  return Array.from({ length }, (_none, index) => {
    const at = last - length + 1 + index;
    const parts = grouped.get(at) ?? [];
    return {
      at: new Date(at * step),
      counts: sumOf(parts.flatMap(({ all }) => all ?? [])),
      tools: Object.fromEntries(byTool(parts)),
      dollars: parts.reduce((sum, { dollars }) => sum + dollars, 0),
    };
  });
}

function byTool(parts: readonly { readonly tools: Readonly<Record<string, Counts>> }[]): ReadonlyMap<string, Counts> {
  const all = new Map<string, Counts[]>();
  for (const { tools } of parts)
    for (const [key, counts] of Object.entries(tools)) {
      const name = nameOf(key);
      all.set(name, [...(all.get(name) ?? []), counts]);
    }
  return new Map([...all].map(([name, counts]) => [name, sumOf(counts)]));
}

/** Returns the tools with their counts, most frequently called first. */
export function toolsOf(points: readonly Point[]): readonly (readonly [name: string, counts: Counts])[] {
  return [...byTool(points)].sort(([, one], [, other]) => other.calls - one.calls);
}

export function sumOf(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, one) => ({
      calls: sum.calls + one.calls,
      failures: sum.failures + one.failures,
      milliseconds: sum.milliseconds + one.milliseconds,
      errors: added(sum.errors, one.errors),
      latencies: added(sum.latencies, one.latencies),
    }),
    NONE,
  );
}

function added(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>): Record<string, number> {
  const sum = { ...one };
  for (const [key, n] of Object.entries(other)) sum[key] = (sum[key] ?? 0) + n;
  return sum;
}

export const errorRate = ({ calls, failures }: Counts): number => (calls === 0 ? 0 : failures / calls);

/**
 * Returns the latency below which a share of the calls ended, in milliseconds, by linear interpolation in its bucket.
 * @returns undefined without calls; `isAtLeast` if it is beyond the last end
 */
export function quantile({ latencies }: Counts, share: number) {
  const counts = BUCKETS.map(({ key }) => latencies[key] ?? 0);
  const whole = counts.reduce((sum, one) => sum + one, 0);
  if (whole === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= share * whole) {
      const from = BUCKETS[index - 1]?.end ?? 0;
      const to = BUCKETS[index]?.end ?? from;
      if (!Number.isFinite(to)) return { value: from, isAtLeast: true };
      return { value: from + ((share * whole - below) / count) * (to - from), isAtLeast: false };
    }
    below += count;
  }
  return undefined;
}

function timeOf(key: string): Date {
  const [, year, month, day, hour = '00', minute = '00'] = /^(....)(..)(..)(..)?(..)?$/.exec(key) ?? [];
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
}

/** Decodes a key of the Realtime Database, which cannot contain dots. */
function nameOf(key: string): string {
  return key.replace(/%([0-9A-F]{2})/g, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)));
}
