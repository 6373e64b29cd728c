/** Stored figures of earlier runs, in bench/figures.json. The results in the documentation are generated from them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { z } from 'zod';
import { VERSION } from '../functions/src/config.ts';
import { root } from '../scripts/project.mjs';
import { judgedOf, type Measurement, measurementSchema, meets, type Spread, type Target } from './measurement.ts';
import { numberText, targetText } from './report.ts';

const FILE = `${root}/bench/figures.json`;

/** A value counts as worse only if it is worse than all stored rounds, and than both stored medians by this share. */
const NOISE = 0.15;
const originSchema = z.object({ version: z.string(), commit: z.string(), date: z.string(), machine: z.string() });
const storedSchema = z.object({ ...originSchema.shape, runs: z.tuple([measurementSchema, measurementSchema]) });

/** Version, commit, day and machine of a measurement. */
export type Origin = z.infer<typeof originSchema>;

/** A measurement in two runs. */
export type Stored = z.infer<typeof storedSchema>;

export function storedFigures(): readonly Stored[] {
  return z.array(storedSchema).parse(JSON.parse(readFileSync(FILE, 'utf8')));
}

/** Returns the commit, date and machine of a run that starts now. */
export function originNow(): Origin {
  const describe = ['describe', '--always', '--exclude=*', '--dirty= with uncommitted changes'];
  const commit = execFileSync('git', describe, { cwd: root, encoding: 'utf8' }).trim();
  const memory = Math.round(totalmem() / 2 ** 30);
  const processor = `${availableParallelism()} cores of ${cpus()[0]?.model.trim() || 'an unknown processor'}`;
  const java = /"([\d._]+)"/.exec(spawnSync('java', ['-version'], { encoding: 'utf8' }).stderr)?.[1] ?? 'unknown';
  const machine = `${processor}, ${memory} GiB of memory, Node ${process.versions.node} and Java ${java}`;
  return { version: VERSION, commit, date: new Date().toISOString().slice(0, 10), machine };
}

/** Replaces the figures of all measurements that two runs have measured without faults, and keeps all others. */
export function withFigures(
  figures: readonly Stored[],
  origin: Origin,
  measurements: readonly Measurement[],
): readonly Stored[] {
  const faultless = measurements.filter(({ faults = [] }) => faults.length === 0);
  const now = [...new Set(faultless.map(({ name }) => name))].flatMap((name): Stored[] => {
    const [first, second] = faultless.filter((one) => one.name === name).map((one) => measurementSchema.parse(one));
    return first && second ? [{ ...origin, runs: [first, second] }] : [];
  });
  const isReplaced = ({ runs: [{ name }] }: Stored) => now.some(({ runs }) => runs[0].name === name);
  return [...figures.filter((one) => !isReplaced(one)), ...now];
}

/** Stores the figures, one measurement per line and with four digits, so that changes are readable. */
export function storeFigures(figures: readonly Stored[]): void {
  const short = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  writeFileSync(FILE, `[\n${figures.map((one) => JSON.stringify(one, short)).join(',\n')}\n]\n`);
}

/**
 * Returns the values of a measurement that are worse than the stored figures beyond noise. Times and rates are compared only with
 * those of an equal machine, but ratios with those of any machine.
 */
export function regressionsOf(now: Measurement, figures: readonly Stored[], machine: string): readonly string[] {
  const before = figures.find(({ runs: [{ name }] }) => name === now.name);
  return judgedOf(now).flatMap(({ what, spread: { median }, target }) => {
    const spreads = (before?.runs ?? []).flatMap((run) => judgedOf(run).find((one) => one.what === what)?.spread ?? []);
    if (spreads.length === 0 || (what !== 'ratio' && before?.machine !== machine)) return [];
    if (!spreads.every((one) => isWorse(median, one, target.kind))) return [];
    return [
      `${what} ${numberText(median)} is worse than ${spreads.map((one) => numberText(one.median)).join(' and ')}`,
    ];
  });
}

function isWorse(median: number, before: Spread, kind: Target['kind']): boolean {
  return kind === 'at least'
    ? median < Math.min(before.min, before.median * (1 - NOISE))
    : median > Math.max(before.max, before.median * (1 + NOISE));
}

/** Returns a sentence with the targets that one of the two runs missed, and the reason. */
export function missedTargets({ runs: [first, second] }: Stored): readonly string[] {
  const after = judgedOf(second);
  const missed = judgedOf(first).flatMap(({ what, spread, target }) => {
    const both = [spread, after.find((one) => one.what === what)?.spread ?? spread];
    if (both.every((one) => meets(one, target))) return [];
    return [`${what} ${both.map((one) => numberText(one.median)).join(' and ')}, target ${targetText(target)}`];
  });
  if (missed.length === 0) return [];
  return [`\`${first.name}\`: ${missed.join('; ')}.${first.reason === undefined ? '' : ` ${first.reason}`}`];
}
