// @ts-check
const shownFiles = 10;

/**
 * Returns the final summary. Failures come last, so that they are at the end of a long log.
 * @param {import('./mocha.mjs').Totals[]} results
 * @param {number} seconds total duration
 */
export function summary(results, seconds) {
  const passed = sum(results.map((one) => one.passed));
  const failed = sum(results.map((one) => one.failed));
  const slowest = [...secondsOfFiles(results)]
    .sort(([, one], [, other]) => other - one)
    .slice(0, shownFiles)
    .map(([file, took]) => `${took.toFixed(1).padStart(7)} s  ${file}\n`);
  const failures = results.flatMap((one) => one.failures).map((failure) => `\nfailed: ${failure}\n`);
  const heading = slowest.length > 1 ? `\nThe slowest files:\n${slowest.join('')}` : '';
  return `${heading}\n${passed} passed, ${failed} failed in ${duration(seconds)}\n${failures.join('')}`;
}

/** @param {import('./mocha.mjs').Totals[]} results */
export function secondsOfFiles(results) {
  return new Map(results.flatMap((one) => Object.entries(one.seconds)));
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

/** @param {number} seconds */
function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
