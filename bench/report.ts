/** Reports of results, as text and JSON. */
import { type Measurement, passes, type Spread, type Target } from './measurement.ts';
import type { Verdict } from './run.ts';

export function reportText(measurement: Measurement): string {
  const { name, title, ratio, target, figures, faults } = measurement;
  const verdict = passes(measurement) ? 'pass' : 'FAIL';
  const value = ratio === undefined ? '' : `${spreadText(ratio)}, target ${targetText(target)}: `;
  const details = Object.entries(figures).map(([what, figure]) => `    ${what}: ${figureText(figure)}`);
  return [`${name}: ${value}${verdict}`, `    ${title}`, ...details, ...faults.map((fault) => `    ! ${fault}`)].join(
    '\n',
  );
}

/** Returns the result as one line of JSON, so that a program can process it as soon as it is printed. */
export function lineJson(measurement: Measurement): string {
  return JSON.stringify({ ...measurement, pass: passes(measurement) });
}

/** Returns the last line of the report, which lists all failures. */
export function verdictText({ failed, left }: Verdict): string {
  const never = left.length === 0 ? [] : [`not measured: ${left.join(', ')}`];
  const failures = failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`];
  return [...failures, ...never].join('\n') || 'all pass';
}

export function spreadText({ min, median, max }: Spread): string {
  return `${numberText(median)} (${numberText(min)} to ${numberText(max)})`;
}

export function targetText(target: Target | undefined): string {
  return target === undefined ? 'none' : `${target.kind} ${target.value}`;
}

export function figureText(figure: Spread | number | string): string {
  if (typeof figure === 'object') return spreadText(figure);
  return typeof figure === 'number' ? numberText(figure) : figure;
}

/** Returns a number with three significant digits, or with all digits of its integer part. */
function numberText(value: number): string {
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toPrecision(3);
}
