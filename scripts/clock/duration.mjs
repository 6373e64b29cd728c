// @ts-check
/** @type {Record<string, number>} */
const milliseconds = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const longest = 100 * 366 * 86_400_000;

/**
 * @param {string} text such as `1d12h`
 * @returns {number} in milliseconds
 */
export function durationOf(text) {
  if (!/^(\d{1,9}[smhdw])+$/.test(text))
    throw new Error(`invalid duration ${text}. Use a form such as 90s, 15m, 2h, 1d, 1w or 1d12h`);
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g))
    sum += Number(count) * (milliseconds[unit ?? ''] ?? 0);
  if (sum > longest) throw new Error('the duration must be at most 100 years');
  return sum;
}

/**
 * @param {number} duration in milliseconds
 * @returns {string} such as `1d12h`
 */
export function durationText(duration) {
  let rest = Math.floor(duration / 1000) * 1000;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's']) {
    const length = milliseconds[unit] ?? Number.NaN;
    const count = Math.floor(rest / length);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * length;
  }
  return text;
}
