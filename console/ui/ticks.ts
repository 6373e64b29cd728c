/** Positions and labels of axes. */

export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Steps that people can add in their heads. */
const NICE = [1, 2, 2.5, 5, 10];

/** Returns the end of a value axis: the lowest round number above all values, or 1, with the step between its ticks. */
export function niceEnd(highest: number, steps: number): { readonly end: number; readonly step: number } {
  const rough = (highest || 1) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (NICE.find((one) => one * power >= rough) ?? 10);
  return { end: step * steps, step };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TIME_STEPS = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * MINUTE);

/** Returns full minutes or hours between two times, at most `most` of them. */
export function timeTicks(from: number, to: number, most: number): readonly number[] {
  const step = TIME_STEPS.find((one) => (to - from) / one <= most) ?? 24 * HOUR;
  // Full hours of the person's time zone, which may differ from UTC by half an hour.
  const offset = new Date(from).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - offset) / step) * step + offset;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_none, index) => first + index * step,
  );
}
