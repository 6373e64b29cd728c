/** Recurrence rules. Source: the to-do specification, create_recurring_task; docs/semantics.md#to-dos. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { invalid, PRIORITIES } from '../todo.ts';

export const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;

const DEFAULT_TIMEZONE = 'UTC';

const SHORT_TIMEZONES = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ');

/** The latest instant that the databases can store and RFC 3339 can express. */
export const END_OF_TIME = new Date('9999-12-31T23:59:59.999Z');

export type RecurrenceRule = Pick<RecurringTask, 'frequency' | 'start_date' | 'timezone' | 'end_date' | 'local_start'>;

export interface RequestedRule {
  readonly frequency: string;
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
  const { start_date: anchor, end_date: end, timezone = DEFAULT_TIMEZONE } = requested;
  const frequency = FREQUENCIES.find((known) => known === requested.frequency);
  if (frequency === undefined) {
    const suggestion = `Use one of ${FREQUENCIES.join(', ')}.`;
    throw invalid('frequency', 'INVALID_FREQUENCY', 'Unknown frequency.', suggestion);
  }
  checkTimezone(timezone);
  checkDate('start_date', anchor);
  if (end === undefined) return { frequency, start_date: anchor, timezone };
  checkDate('end_date', end);
  const endDate = lastInstant(end, timezone);
  if (endDate < anchor) {
    const suggestion = 'Use an end_date at or after start_date, or omit it to repeat without end.';
    throw invalid('end_date', 'END_BEFORE_START', 'end_date is before start_date.', suggestion);
  }
  return { frequency, start_date: anchor, timezone, end_date: endDate };
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
