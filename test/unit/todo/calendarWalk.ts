/** Finds the expected occurrences by testing every day. Shares only the time zone database with the tested code. */
import type {
  Occurrence,
  RecurrenceRule,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';

export const DAY = 86_400_000;

/** Longer than any offset from UTC and than any change of an offset, in milliseconds. */
const AWAY = 26 * 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function format(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const numeric = 'numeric';
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formats.set(timezone, made);
  return made;
}

/** Returns the local time at an instant, in milliseconds, as if that local time were a time in UTC. */
export function wallClock(instant: number, timezone: string): number {
  const parts = format(timezone).formatToParts(instant);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const seconds = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return seconds + (((instant % 1000) + 1000) % 1000);
}

/** Returns the first instant that has this local time, or undefined if the zone skips this local time. */
export function firstInstant(wall: number, timezone: string): number | undefined {
  const instants = [wall - AWAY, wall, wall + AWAY].map((near) => wall - (wallClock(near, timezone) - near));
  const right = instants.filter((instant) => wallClock(instant, timezone) === wall);
  return right.length === 0 ? undefined : Math.min(...right);
}

function due(wall: number, timezone: string): number {
  const before = wall - AWAY;
  return firstInstant(wall, timezone) ?? wall - (wallClock(before, timezone) - before);
}

function daysInMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] ?? Number.NaN;
}

/** Yields the midnight of every day that matches the rule, in milliseconds, as if it were a time in UTC. */
function* days(frequency: RecurrenceRule['frequency'], first: number): Generator<number> {
  if (frequency !== 'MONTHLY') for (let day = first; ; day += frequency === 'DAILY' ? DAY : 7 * DAY) yield day;
  const wanted = new Date(first).getUTCDate();
  let year = new Date(first).getUTCFullYear();
  let month = new Date(first).getUTCMonth();
  for (; ; month = (month + 1) % 12, year += month === 0 ? 1 : 0)
    yield Date.UTC(year, month, Math.min(wanted, daysInMonth(year, month)));
}

/** Returns the first occurrence after an instant, found by testing every day from the first occurrence on. */
export function walkToNext(rule: RecurrenceRule, after: Date): Occurrence | undefined {
  const anchor = rule.start_date.getTime();
  const wall = wallClock(anchor, rule.timezone);
  const first = Math.floor(wall / DAY) * DAY;
  for (const day of days(rule.frequency, first)) {
    const at = day === first ? anchor : day + (wall - first);
    if (at < after.getTime() - 2 * AWAY) continue;
    const instant = day === first ? anchor : due(at, rule.timezone);
    if (rule.end_date !== undefined && instant > rule.end_date.getTime()) return undefined;
    if (instant > after.getTime()) return { on: new Date(day).toISOString().slice(0, 10), due: new Date(instant) };
  }
  return undefined;
}
