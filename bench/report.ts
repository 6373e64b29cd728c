/** How findings are told: to people, and as JSON. */
import { type Measurement, passes, type Spread, type Target } from './measurement.ts';

export function reportText(measurement: Measurement): string {
  const { name, title, ratio, target, figures, faults } = measurement;
  const verdict = passes(measurement) ? 'pass' : 'FAIL';
  const value = ratio === undefined ? '' : `${spreadText(ratio)}, target ${targetText(target)}: `;
  const details = Object.entries(figures).map(([what, figure]) => `    ${what}: ${figureText(figure)}`);
  return [
    `${name}: ${value}${verdict}`,
    `    ${title}`,
    ...details,
    ...faults.map((fault) => `    ! ${fault}`),
  ].join('\n');
}

/** @param load the machine's when the run began */
export function reportJson(measurements: readonly Measurement[], load: number): string {
  const results = measurements.map((measurement) => ({ ...measurement, pass: passes(measurement) }));
  return JSON.stringify({ pass: results.every(({ pass }) => pass), load, results });
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

/** Three significant digits, but no whole number loses one. */
function numberText(value: number): string {
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return String(Math.round(value));
  return value.toPrecision(3);
}
