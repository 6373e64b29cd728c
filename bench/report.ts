/** Reports of results, as text and JSON. */
import { type Figure, isOnTarget, type Spread, type Target } from './measurement.ts';
import type { Compared, Verdict } from './run.ts';

export function reportText(measurement: Compared): string {
  const { name, title, ratio, target, figures, figureTargets, faults = [], worse } = measurement;
  const value = ratio === undefined ? '' : `${spreadText(ratio)}, target ${targetText(target)}: `;
  const details = Object.entries(figures).map(([what, figure]) => {
    const aim = figureTargets?.[what];
    return `    ${what}: ${figureText(figure)}${aim === undefined ? '' : `, target ${targetText(aim)}`}`;
  });
  const problems = [...faults, ...worse].map((problem) => `    ! ${problem}`);
  return [`${name}: ${value}${verdictOf(measurement)}`, `    ${title}`, ...details, ...problems].join('\n');
}

function verdictOf(measurement: Compared): string {
  if ((measurement.faults ?? []).length > 0) return 'FAIL';
  if (measurement.worse.length > 0) return 'WORSE';
  return isOnTarget(measurement) ? 'pass' : 'target missed';
}

/** Returns the result as one line of JSON, so that a program can process it as soon as it is printed. */
export function lineJson(measurement: Compared): string {
  return JSON.stringify({ ...measurement, verdict: verdictOf(measurement) });
}

/** Returns the last lines of the report, which list all failures. */
export function verdictText({ failed, worse, missed, left }: Verdict): string {
  const lists = { failed, 'worse than the stored figures': worse, 'targets missed': missed, 'not measured': left };
  const lines = Object.entries(lists).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${what}: ${names.join(', ')}`],
  );
  return lines.join('\n') || 'all pass';
}

export function spreadText({ min, median, max }: Spread): string {
  return `${numberText(median)} (${numberText(min)} to ${numberText(max)})`;
}

export function targetText(target: Target | undefined): string {
  return target === undefined ? 'none' : `${target.kind} ${target.value}`;
}

export function figureText(figure: Figure): string {
  if (typeof figure === 'object') return spreadText(figure);
  return typeof figure === 'number' ? numberText(figure) : figure;
}

/** Returns the text of a number with three significant digits, or with all digits of its integer part. */
export function numberText(value: number): string {
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toPrecision(3);
}
