/** Recurrence rules. Source: the to-do specification, create_recurring_task; docs/semantics.md#to-dos. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import type { MusterError } from '../../../../kernel/errors.ts';
import { invalid, PRIORITIES } from '../todo.ts';

export const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;
export const DEFAULT_TIMEZONE = 'UTC';
const SHORT_TIMEZONES = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ');

/** The latest instant that the databases can store and RFC 3339 can express. */
export const END_OF_TIME = new Date('9999-12-31T23:59:59.999Z');

/** Maximum number of days, weeks or months between two occurrences. */
export const MAX_INTERVAL = 99;

/** The days that a rule of each frequency accepts, and what to use instead of others. Source: RFC 5545, BYDAY. */
const DAYS_OF = {
  DAILY: { accepted: /^(?!)/, suggestion: 'Omit days, or use the frequency WEEKLY.' },
  WEEKLY: { accepted: /^(?:MO|TU|WE|TH|FR|SA|SU)$/, suggestion: 'With WEEKLY, use MO, TU, WE, TH, FR, SA and SU.' },
  MONTHLY: {
    accepted: /^(?:(?:[1-4]|-1)(?:MO|TU|WE|TH|FR|SA|SU)|[1-9]|[12]\d|3[01]|-1)$/,
    suggestion:
      'With MONTHLY, use "1FR" for the first Friday, "-1FR" for the last, "15" for a day of the month, or "-1" for the last day.',
  },
};

/** Returns whether a day of a monthly rule is a number, and not a weekday. */
export const isNumbered = (day: string) => /^-?\d+$/.test(day);

export type RecurrenceRule = Pick<
  RecurringTask,
  'frequency' | 'interval' | 'days' | 'start_date' | 'timezone' | 'end_date' | 'local_start'
>;

export interface RequestedRule {
  readonly frequency: string;
  readonly interval?: number | undefined;
  readonly days?: readonly string[] | undefined;
  readonly start_date: Date;
  readonly timezone?: string | undefined;
  readonly end_date?: Date | undefined;
}

/**
 * Returns the checked rule. @param lastInstant returns the last instant of an end date in a time zone
 * @throws MusterError VALIDATION_ERROR with the reason INVALID_FREQUENCY, INVALID_TIMEZONE, INVALID_DATE or
 *   END_BEFORE_START, and the argument of create_recurring_task as field
 */
export function recurrenceRule(
  requested: RequestedRule,
  lastInstant: (endDate: Date, timezone: string) => Date = (endDate) => endDate,
): RecurrenceRule {
  const { interval = 1, start_date: anchor, end_date: end, timezone = DEFAULT_TIMEZONE } = requested;
  const frequency = FREQUENCIES.find((known) => known === requested.frequency);
  if (frequency === undefined) {
    const suggestion = `Use one of ${FREQUENCIES.join(', ')}.`;
    throw invalid('frequency', 'INVALID_FREQUENCY', 'Unknown frequency.', suggestion);
  }
  const days = checkedDays(frequency, requested.days ?? []);
  checkTimezone(timezone);
  checkDate('start_date', anchor);
  const rule = { frequency, ...(interval > 1 && { interval }), ...(days.length > 0 && { days }), timezone };
  if (end === undefined) return { ...rule, start_date: anchor };
  checkDate('end_date', end);
  const endDate = lastInstant(end, timezone);
  if (endDate < anchor) throw endsBeforeStart();
  return { ...rule, start_date: anchor, end_date: endDate };
}

export function endsBeforeStart(): MusterError {
  const suggestion = 'Use an end_date at or after the first occurrence, or omit it to repeat without end.';
  return invalid('end_date', 'END_BEFORE_START', 'end_date is before the first occurrence.', suggestion);
}

/** @throws MusterError VALIDATION_ERROR with the reason INVALID_DAYS if a day does not suit the frequency */
function checkedDays(frequency: RecurrenceRule['frequency'], requested: readonly string[]): readonly string[] {
  const days = [...new Set(requested)];
  const { accepted, suggestion } = DAYS_OF[frequency];
  const numbered = days.filter(isNumbered);
  // The days 29 to 31 become the last day of shorter months, so they could coincide with other days.
  const isUnclear = numbered.length > 0 && days.length > 1 && days.some((day) => !isNumbered(day) || Number(day) > 28);
  if (days.every((day) => accepted.test(day)) && !isUnclear) return days;
  throw invalid('days', 'INVALID_DAYS', `These days do not suit the frequency ${frequency}.`, suggestion);
}

/**
 * Offsets such as "+02:00" are rejected because they have no daylight saving time. Abbreviations such as "IST" are
 * rejected because IANA does not define them, although Intl accepts them.
 * @throws MusterError VALIDATION_ERROR with the reason INVALID_TIMEZONE
 */
export function checkTimezone(timezone: string): void {
  const isAbbreviation = timezone.length === 3 && !SHORT_TIMEZONES.includes(timezone.toUpperCase());
  if (/^[A-Za-z]/.test(timezone) && !isAbbreviation && isKnownTimezone(timezone)) return;
  const suggestion = 'Use an IANA time zone name, such as "Europe/Berlin", or omit timezone for UTC.';
  throw invalid('timezone', 'INVALID_TIMEZONE', `Unknown time zone "${timezone}".`, suggestion);
}

function isKnownTimezone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return true;
  } catch {
    return false;
  }
}

function checkDate(field: string, date: Date): void {
  // An invalid Date object fails both comparisons, so it is rejected too.
  if (date.getUTCFullYear() > 0 && date <= END_OF_TIME) return;
  throw invalid(field, 'INVALID_DATE', `${field} must be between the years 1 and 9999.`);
}

/**
 * One occurrence of a rule. `on` is its calendar date in the rule's time zone, `YYYY-MM-DD`, and unique within the
 * rule. If a clock change skips midnight, `due` can be on the day after `on`.
 */
export interface Occurrence {
  readonly on: string;
  readonly due: Date;
}

/** A recurring to-do, stored as `recurringTasks/{id}`. */
export const recurringTaskDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  priority: z.enum(PRIORITIES),
  tags: z.array(z.string()),
  created_at: timestamp,
  /** Set if no further occurrence will be created, because the recurring to-do or its last occurrence has ended. */
  ended_at: z.nullable(timestamp),
  frequency: z.enum(FREQUENCIES),
  /** An occurrence is in every n-th day, week or month. Absent if it is in each one. */
  interval: z._default(z.nullable(z.int().check(z.minimum(1))), null),
  /** Weekdays, or `-1` for the last day of the month. Absent if `start_date` determines the day. */
  days: z._default(z.nullable(z.array(z.string())), null),
  /** Minutes from a reminder to the due date. Absent if the owner's preferences determine them. */
  reminder_lead_minutes: z._default(z.nullable(z.int().check(z.minimum(0))), null),
  /** Due date of the first occurrence. It determines the day and the time of day of all later occurrences. */
  start_date: timestamp,
  /** Latest instant at which an occurrence can be due; an occurrence at exactly this instant is included. */
  end_date: z.nullable(timestamp),
  /** IANA time zone in which the dates and times of day are computed. */
  timezone: z.string(),
  /** Wall-clock time of the first occurrence. Set only if a clock change skips it, so that `start_date` is later. */
  local_start: z._default(z.nullable(z.string()), null),
  /** Latest created occurrence. Completing or deleting this occurrence creates the next one. */
  latest_on: z.string(),
  latest_due: timestamp,
});

export const recurringTaskCodec = documentCodec(recurringTaskDocument);
export const recurringTaskFromDocument = recurringTaskCodec.fromDocument;
export type RecurringTask = ReturnType<typeof recurringTaskFromDocument>;
