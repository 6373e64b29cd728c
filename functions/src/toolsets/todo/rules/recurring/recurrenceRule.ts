/** When a recurring to-do recurs. Source: the to-do specification, create_recurring_task; docs/semantics.md#to-dos. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { invalid, PRIORITIES } from '../todo.ts';

export const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;

const DEFAULT_TIMEZONE = 'UTC';

/** Those of IANA's names that have three letters. */
const SHORT_TIMEZONES = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ');

/** The last instant that the databases can store, and that RFC 3339 can write. */
export const END_OF_TIME = new Date('9999-12-31T23:59:59.999Z');

export type RecurrenceRule = Pick<
  RecurringTask,
  'frequency' | 'start_date' | 'timezone' | 'end_date' | 'local_start'
>;

export interface RequestedRule {
  readonly frequency: string;
  readonly start_date: Date;
  readonly timezone?: string | undefined;
  readonly end_date?: Date | undefined;
}

/**
 * @param lastInstant the last instant that an end means, in a zone
 * @throws MusterError VALIDATION_ERROR, with the reason INVALID_FREQUENCY, INVALID_TIMEZONE, INVALID_DATE
 *   or END_BEFORE_START, naming the argument of create_recurring_task
 */
export function recurrenceRule(
  requested: RequestedRule,
  lastInstant: (endDate: Date, timezone: string) => Date = (endDate) => endDate,
): RecurrenceRule {
  const { start_date: anchor, end_date: end, timezone = DEFAULT_TIMEZONE } = requested;
  const frequency = FREQUENCIES.find((known) => known === requested.frequency);
  if (frequency === undefined) {
    const suggestion = `Use one of ${FREQUENCIES.join(', ')}.`;
    throw invalid('frequency', 'INVALID_FREQUENCY', 'There is no such frequency.', suggestion);
  }
  checkTimezone(timezone);
  checkDate('start_date', anchor);
  if (end === undefined) return { frequency, start_date: anchor, timezone };
  checkDate('end_date', end);
  const endDate = lastInstant(end, timezone);
  if (endDate < anchor) {
    const suggestion = 'Give an end_date at or after the start_date, or none to repeat without end.';
    throw invalid('end_date', 'END_BEFORE_START', 'The end_date is before the start_date.', suggestion);
  }
  return { frequency, start_date: anchor, timezone, end_date: endDate };
}

/**
 * Offsets such as "+02:00" are refused: they know no daylight saving time, which is what a zone is for.
 * So are abbreviations such as "IST", which Intl takes and IANA does not have.
 * @throws MusterError VALIDATION_ERROR, with the reason INVALID_TIMEZONE
 */
export function checkTimezone(timezone: string): void {
  const isAbbreviation = timezone.length === 3 && !SHORT_TIMEZONES.includes(timezone.toUpperCase());
  if (/^[A-Za-z]/.test(timezone) && !isAbbreviation && isKnownTimezone(timezone)) return;
  const suggestion =
    'Use a name of the IANA time zone database, such as "Europe/Berlin", or leave it out for UTC.';
  throw invalid('timezone', 'INVALID_TIMEZONE', 'There is no such time zone.', suggestion);
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
  // Written so that an invalid date, which compares with nothing, is refused as well.
  if (date.getUTCFullYear() > 0 && date <= END_OF_TIME) return;
  throw invalid(field, 'INVALID_DATE', `The ${field} is not a date between the years 1 and 9999.`);
}

/**
 * One occurrence of a rule. `on` is its calendar date in the rule's zone, `YYYY-MM-DD`: a rule has at most one
 * occurrence a date. It is the date that the rule means. Where the clock is put forward over midnight, `due` may
 * be just after it.
 */
export interface Occurrence {
  readonly on: string;
  readonly due: Date;
}

/** A task that makes to-dos again and again: `recurringTasks/{id}`. */
export const recurringTaskDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  priority: z.enum(PRIORITIES),
  tags: z.array(z.string()),
  created_at: timestamp,
  /** No more occurrences come: it was deleted, or the last one was done. */
  ended_at: z.nullable(timestamp),
  frequency: z.enum(FREQUENCIES),
  /** The first occurrence. It alone says on which day and at what time of day the others are. */
  start_date: timestamp,
  /** The last instant at which an occurrence may be due, itself included. */
  end_date: z.nullable(timestamp),
  /** The IANA zone whose calendar and clock count. */
  timezone: z.string(),
  /** The date and time of day that the rule means, if the clock of a zone that it was moved to skips them at `start_date`. */
  local_start: z._default(z.nullable(z.string()), null),
  /** The last occurrence that was made. Only what ends this one makes another. */
  latest_on: z.string(),
  latest_due: timestamp,
});

export const recurringTaskCodec = documentCodec(recurringTaskDocument);

export const recurringTaskFromDocument = recurringTaskCodec.fromDocument;

export type RecurringTask = ReturnType<typeof recurringTaskFromDocument>;
