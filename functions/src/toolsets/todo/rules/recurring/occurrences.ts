/**
 * Occurrences of a recurrence rule. rrule-temporal computes the days, Temporal the instant on each day: RFC 5545 omits
 * occurrences in the gap of a clock change, and we keep them.
 *
 * Loading this module takes tens of milliseconds: import it lazily.
 */

import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { DAY_MS } from '../../../../kernel/ports.ts';
import { END_OF_TIME, type Occurrence, type RecurrenceRule } from './recurrenceRule.ts';

/** Days in the shortest month. */
const DAYS_OF_EVERY_MONTH = 28;

/** A clock gap can move an occurrence to the next day, and the search starts one day earlier. */
const DAYS_BEFORE = 2;

/** Returns the occurrence at the anchor. */
export function firstOccurrence(rule: RecurrenceRule): Occurrence {
  return { on: start(rule).toPlainDate().toString(), due: rule.start_date };
}

/**
 * Returns the first occurrence due after an instant, computed from the anchor: on the last day of a month without the
 * anchor's day, at the anchor's time of day. In a clock gap it is later by the length of the gap; in an overlap it is
 * the first of the two times. The number of steps does not depend on the distance.
 * @param after the occurrence is due strictly later; for a completed one, the later of its due date and completion
 * @param afterDate `on` of the previous occurrence, if any. Ensures a different id for the next one if the to-do was
 * moved ahead or the rule was edited.
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

/** Returns the next occurrences by the rule; fewer if the rule ends. */
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

/** Maximum number of days between two occurrences, plus two for clock changes. */
const MAX_SPAN_DAYS = { DAILY: 3, WEEKLY: 9, MONTHLY: 33 };

/** Returns the last occurrence of a rule with an end. */
export function lastOccurrence(rule: RecurrenceRule): Occurrence | undefined {
  if (rule.end_date === undefined) return undefined;
  const near = rule.end_date.getTime() - MAX_SPAN_DAYS[rule.frequency] * DAY_MS;
  let last = firstOccurrence(rule);
  let next = nextOccurrence(rule, new Date(Math.max(rule.start_date.getTime(), near)));
  for (; next !== undefined; next = nextOccurrence(rule, next.due, next.on)) last = next;
  return last;
}

/** Returns the rule in another time zone, with unchanged dates and times of day. Its end is converted accordingly. */
export function inTimezone(rule: RecurrenceRule, timezone: string): RecurrenceRule {
  if (timezone === rule.timezone) return rule;
  const { local_start: _, end_date, ...rest } = rule;
  const meant = start(rule);
  const anchor = instant(meant, timezone);
  const isSkipped = !local(anchor, timezone).toPlainDateTime().equals(meant);
  const end = end_date && instant(local(end_date, rule.timezone).toPlainDateTime(), timezone);
  return {
    ...rest,
    start_date: anchor,
    timezone,
    ...(end && { end_date: storable(end) }),
    ...(isSkipped && { local_start: meant.toString() }),
  };
}

/** Returns the last instant of an end date: for midnight, the end of that day. */
export function lastInstant(endDate: Date, timezone: string): Date {
  const end = local(endDate, timezone);
  const day = end.startOfDay();
  if (!end.equals(day)) return endDate;
  return storable(new Date(day.add({ days: 1 }).startOfDay().epochMilliseconds - 1));
}

function storable(date: Date): Date {
  return date < END_OF_TIME ? date : END_OF_TIME;
}

/** Returns the nominal first date and time of day. A clock change can skip it: the anchor is later then. */
function start({ start_date: anchor, timezone, local_start }: RecurrenceRule): Temporal.PlainDateTime {
  return local_start === undefined
    ? local(anchor, timezone).toPlainDateTime()
    : Temporal.PlainDateTime.from(local_start);
}

/** Returns the recurring days, as midnights in UTC, which has no clock changes. */
function recurringDays({ frequency }: RecurrenceRule, first: string): RRuleTemporal<Temporal.ZonedDateTime> {
  const dtstart = midnight(first);
  const { day } = dtstart;
  // Selects the last existing day of the 28th to 31st: RFC 5545 would omit shorter months.
  const days = Array.from({ length: day - DAYS_OF_EVERY_MONTH + 1 }, (_, index) => DAYS_OF_EVERY_MONTH + index);
  const monthEnd = frequency === 'MONTHLY' && day > DAYS_OF_EVERY_MONTH;
  return new RRuleTemporal({
    temporal: Temporal,
    freq: frequency,
    dtstart,
    ...(monthEnd && { byMonthDay: days, bySetPos: [-1] }),
  });
}

/** Returns a date before the wanted occurrence, at most a few occurrences away from it. */
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

/** In a clock gap, later by the length of the gap; in an overlap, the first time (`compatible` in Temporal). */
function instant(wallClock: Temporal.PlainDateTime, timezone: string): Date {
  return new Date(wallClock.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds);
}
