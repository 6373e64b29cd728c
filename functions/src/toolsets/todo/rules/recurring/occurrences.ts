/**
 * The occurrences of a rule. rrule-temporal says on which days they are, Temporal at which instant on
 * such a day: RFC 5545 leaves out what falls into the gap of a clock put forward, and we do not.
 *
 * Loading this takes tens of milliseconds: import it where it is needed first.
 */

import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { END_OF_TIME, type Occurrence, type RecurrenceRule } from './recurrenceRule.ts';

const DAY_MILLISECONDS = 24 * 3_600_000;

/** The shortest month. */
const DAYS_OF_EVERY_MONTH = 28;

/** What a gap has moved may be due on the day after the one that it means. The search begins a day before that. */
const DAYS_BEFORE = 2;

/** The occurrence that the anchor is. */
export function firstOccurrence(rule: RecurrenceRule): Occurrence {
  return { on: start(rule).toPlainDate().toString(), due: rule.start_date };
}

/**
 * The first occurrence that is due after an instant, computed from the anchor: in a month that lacks the
 * anchor's day on its last, at the anchor's time of day, in a gap of the clock as much later as the gap is
 * long, in an overlap the first time. It takes the same few steps however far away that is.
 *
 * @param after what the occurrence is due strictly after: for a completed one the later of its due date and
 *   its completion
 * @param afterDate `on` of the occurrence that it follows, where there is one. It makes sure that the next
 *   one has another id when the to-do was moved ahead or the rule was edited.
 * @returns undefined after the last
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

/** The occurrences after one, as the rule has them; fewer than asked for where it ends. */
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

/** The longest time between two occurrences in days, with two for clocks that are changed. */
const LONGEST_DAYS = { DAILY: 3, WEEKLY: 9, MONTHLY: 33 };

/** The last occurrence of a rule that ends. */
export function lastOccurrence(rule: RecurrenceRule): Occurrence | undefined {
  if (rule.end_date === undefined) return undefined;
  const near = rule.end_date.getTime() - LONGEST_DAYS[rule.frequency] * DAY_MILLISECONDS;
  let last = firstOccurrence(rule);
  let next = nextOccurrence(rule, new Date(Math.max(rule.start_date.getTime(), near)));
  for (; next !== undefined; next = nextOccurrence(rule, next.due, next.on)) last = next;
  return last;
}

/** The rule in another zone, with the same dates and times of day. Its end moves along, so that the occurrences stay the same. */
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

/** The last instant that an end means: of a day that is written as its midnight, the end of that day. */
export function lastInstant(endDate: Date, timezone: string): Date {
  const end = local(endDate, timezone);
  const day = end.startOfDay();
  if (!end.equals(day)) return endDate;
  return storable(new Date(day.add({ days: 1 }).startOfDay().epochMilliseconds - 1));
}

function storable(date: Date): Date {
  return date < END_OF_TIME ? date : END_OF_TIME;
}

/** The date and time of day that the rule means. The clock may skip them on the first day: the anchor is later then. */
function start({ start_date: anchor, timezone, local_start }: RecurrenceRule): Temporal.PlainDateTime {
  return local_start === undefined
    ? local(anchor, timezone).toPlainDateTime()
    : Temporal.PlainDateTime.from(local_start);
}

/** The days on which the rule recurs, as midnights of UTC, where every day has one. */
function recurringDays({ frequency }: RecurrenceRule, first: string): RRuleTemporal<Temporal.ZonedDateTime> {
  const dtstart = midnight(first);
  const { day } = dtstart;
  // The last of the 28th, 29th, 30th and 31st that a month has: RFC 5545 would leave out shorter months.
  const days = Array.from(
    { length: day - DAYS_OF_EVERY_MONTH + 1 },
    (_, index) => DAYS_OF_EVERY_MONTH + index,
  );
  const monthEnd = frequency === 'MONTHLY' && day > DAYS_OF_EVERY_MONTH;
  return new RRuleTemporal({
    temporal: Temporal,
    freq: frequency,
    dtstart,
    ...(monthEnd && { byMonthDay: days, bySetPos: [-1] }),
  });
}

/** A date before the wanted occurrence and at most a few occurrences away from it. */
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

/** In a gap as much later as the gap is long, in an overlap the first: what Temporal calls compatible. */
function instant(wallClock: Temporal.PlainDateTime, timezone: string): Date {
  return new Date(wallClock.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds);
}
