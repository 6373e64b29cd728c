/**
 * Occurrences of a recurrence rule. rrule-temporal computes the days, Temporal the instant on each day, because RFC
 * 5545 omits an occurrence whose local time a clock change skips, but Muster keeps it.
 *
 * Loading this module takes tens of milliseconds: import it lazily.
 */
import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { DAY_MS } from '../../../../kernel/ports.ts';
import { END_OF_TIME, endsBeforeStart, isNumbered, type Occurrence, type RecurrenceRule } from './recurrenceRule.ts';

const DAYS_OF_EVERY_MONTH = 28;

/** Two days, because a clock change can move an occurrence to the next day, and the search starts a day before it. */
const DAYS_BEFORE = 2;

/**
 * Returns the rule with the first of its days, at or after its start date, as its start date.
 * @throws MusterError VALIDATION_ERROR with the reason END_BEFORE_START if the rule ends before this day
 */
export function startingOnItsDay(rule: RecurrenceRule): RecurrenceRule {
  if (rule.days === undefined) return rule;
  const { on } = firstOccurrence(rule);
  // An interval is counted from the first of the days.
  const day = recurringDays({ ...rule, interval: 1 }, on).next(midnight(on), true);
  const meant = day?.toPlainDateTime().withPlainTime(start(rule).toPlainTime());
  const moved = meant && anchoredAt(meant, rule.timezone);
  if (!moved || moved.start_date > (rule.end_date ?? END_OF_TIME)) throw endsBeforeStart();
  return { ...rule, ...moved };
}

/** Returns the first occurrence, which is due at the rule's start date. */
export function firstOccurrence(rule: RecurrenceRule): Occurrence {
  return { on: start(rule).toPlainDate().toString(), due: rule.start_date };
}

/**
 * Returns the first occurrence due after an instant, at the start date's time of day. In months that lack the start
 * date's day, it is on the last day. A time that a clock change skips is moved later by the skipped span. If a time
 * occurs twice, the first one is used. The number of steps does not depend on the distance to the instant.
 * @param after the occurrence is due strictly after this instant
 * @param afterDate `on` of the previous occurrence, if any: the next occurrence has a later date, and thus another
 *   id, even if the previous one was moved or the rule was edited.
 * @returns undefined after the last occurrence
 */
export function nextOccurrence(rule: RecurrenceRule, after: Date, afterDate = ''): Occurrence | undefined {
  const first = firstOccurrence(rule);
  if (after < rule.start_date && afterDate < first.on) return first;
  const days = recurringDays(rule, first.on);
  const time = start(rule).toPlainTime();
  const last = rule.end_date ?? END_OF_TIME;
  let day = days.next(midnight(searchStart(rule, after, first.on, afterDate)));
  while (day !== null) {
    const due = instant(day.toPlainDateTime().withPlainTime(time), rule.timezone);
    if (due > last) return undefined;
    if (due > after) return { on: day.toPlainDate().toString(), due };
    day = days.next(day);
  }
  return undefined;
}

/** Returns up to `count` occurrences after `latest`; fewer if the rule ends earlier. */
export function followingOccurrences(rule: RecurrenceRule, latest: Occurrence, count: number): Occurrence[] {
  const found: Occurrence[] = [];
  let after: Occurrence | undefined = latest;
  while (found.length < count) {
    after = nextOccurrence(rule, after.due, after.on);
    if (after === undefined) break;
    found.push(after);
  }
  return found;
}

/** Maximum number of days between two occurrences of a rule without an interval, plus two for clock changes. */
const MAX_SPAN_DAYS = { DAILY: 3, WEEKLY: 9, MONTHLY: 39 };

/** Returns the last occurrence of a rule; undefined if the rule has no end. */
export function lastOccurrence(rule: RecurrenceRule): Occurrence | undefined {
  if (rule.end_date === undefined) return undefined;
  const near = rule.end_date.getTime() - MAX_SPAN_DAYS[rule.frequency] * (rule.interval ?? 1) * DAY_MS;
  let last = firstOccurrence(rule);
  let next = nextOccurrence(rule, new Date(Math.max(rule.start_date.getTime(), near)));
  for (; next !== undefined; next = nextOccurrence(rule, next.due, next.on)) last = next;
  return last;
}

/** Returns the rule in another time zone. Its dates, including the end date, and its time of day stay the same. */
export function inTimezone(rule: RecurrenceRule, timezone: string): RecurrenceRule {
  if (timezone === rule.timezone) return rule;
  const { local_start: _, end_date, ...rest } = rule;
  const meant = start(rule);
  const end = end_date && instant(local(end_date, rule.timezone).toPlainDateTime(), timezone);
  return { ...rest, timezone, ...anchoredAt(meant, timezone), ...(end && { end_date: storable(end) }) };
}

/** Returns the start of a rule whose first occurrence has a wall-clock time, which a clock change may skip. */
function anchoredAt(meant: Temporal.PlainDateTime, timezone: string) {
  const anchor = instant(meant, timezone);
  const isSkipped = !local(anchor, timezone).toPlainDateTime().equals(meant);
  return { start_date: anchor, ...(isSkipped && { local_start: meant.toString() }) };
}

/** Returns the last instant that an end date includes. If the end date is a midnight, the whole day is included. */
export function lastInstant(endDate: Date, timezone: string): Date {
  const end = local(endDate, timezone);
  const day = end.startOfDay();
  if (!end.equals(day)) return endDate;
  return storable(new Date(day.add({ days: 1 }).startOfDay().epochMilliseconds - 1));
}

function storable(date: Date): Date {
  return date < END_OF_TIME ? date : END_OF_TIME;
}

/** Returns the first occurrence's wall-clock time. If a clock change skips this time, the start date is later. */
function start({ start_date: anchor, timezone, local_start }: RecurrenceRule): Temporal.PlainDateTime {
  return local_start === undefined
    ? local(anchor, timezone).toPlainDateTime()
    : Temporal.PlainDateTime.from(local_start);
}

/** Returns the dates of the occurrences, each as midnight in UTC, because UTC has no clock changes. */
function recurringDays(rule: RecurrenceRule, first: string): RRuleTemporal<Temporal.ZonedDateTime> {
  const { frequency: freq, interval = 1 } = rule;
  const dtstart = midnight(first);
  return new RRuleTemporal({ temporal: Temporal, freq, interval, dtstart, ...selectedDays(rule, dtstart.day) });
}

function selectedDays({ frequency, days = [] }: RecurrenceRule, startDay: number) {
  const numbers = frequency === 'MONTHLY' && days.length === 0 ? [startDay] : days.filter(isNumbered).map(Number);
  const [first = 0] = numbers;
  if (first > DAYS_OF_EVERY_MONTH) {
    // Selects the last of the days 28 to 31 that the month has, because RFC 5545 would omit shorter months.
    const length = first - DAYS_OF_EVERY_MONTH + 1;
    return { byMonthDay: Array.from({ length }, (_, index) => DAYS_OF_EVERY_MONTH + index), bySetPos: [-1] };
  }
  return numbers.length > 0 ? { byMonthDay: numbers } : { ...(days.length > 0 && { byDay: [...days] }) };
}

/** Returns a date before the next occurrence, at most a few occurrences earlier. */
function searchStart({ timezone }: RecurrenceRule, after: Date, first: string, afterDate: string): string {
  const near = local(after, timezone).toPlainDate().subtract({ days: DAYS_BEFORE }).toString();
  return [first, near, afterDate].reduce((latest, date) => (date > latest ? date : latest));
}

function local(date: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timezone);
}

function midnight(date: string): Temporal.ZonedDateTime {
  return Temporal.PlainDate.from(date).toZonedDateTime('UTC');
}

/** @param time `HH:MM` */
export function atWallClock(date: string, time: string, timezone: string): Date {
  return instant(Temporal.PlainDate.from(date).toPlainDateTime(time), timezone);
}

/** Returns the minutes by which a time zone is ahead of UTC. */
export function minutesAhead(now: Date, timezone: string): number {
  return local(now, timezone).offsetNanoseconds / 6e10;
}

/** Returns the date in a time zone, or a later one. */
export function today(now: Date, timezone: string, days = 0): string {
  return local(now, timezone).toPlainDate().add({ days }).toString();
}

/** Returns the instant of a wall-clock time: if skipped, later by the skipped span; if repeated, the first one. */
function instant(wallClock: Temporal.PlainDateTime, timezone: string): Date {
  return new Date(wallClock.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds);
}
