/** When a recurring to-do recurs. Source: spec/todo.md, create_recurring_task; docs/semantics.md#to-dos. */
import { MusterError } from '../../../kernel/errors.ts';
import type { Priority } from './todo.ts';

export const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY'] as const;

type Frequency = (typeof FREQUENCIES)[number];

const DEFAULT_TIMEZONE = 'UTC';

/** Those of IANA's names that have three letters. */
const SHORT_TIMEZONES = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ');

/** The last instant that the databases can store, and that RFC 3339 can write. */
export const END_OF_TIME = new Date('9999-12-31T23:59:59.999Z');

/**
 * `anchor` is the first occurrence. It alone says on which day and at what time of day the others are.
 * `endDate` is the last instant at which an occurrence may be due, itself included.
 * `timezone` is the IANA zone whose calendar and clock count.
 */
export interface RecurrenceRule {
  readonly frequency: Frequency;
  readonly anchor: Date;
  readonly timezone: string;
  readonly endDate?: Date;
}

/** A rule as a caller wrote it. */
export interface RequestedRule {
  readonly frequency: string;
  readonly anchor: Date;
  readonly timezone?: string | undefined;
  readonly endDate?: Date | undefined;
}

/**
 * @throws MusterError VALIDATION_ERROR, with the reason INVALID_FREQUENCY, INVALID_TIMEZONE, INVALID_DATE
 *   or END_BEFORE_START, naming the argument of create_recurring_task
 */
export function recurrenceRule(requested: RequestedRule): RecurrenceRule {
  const { anchor, endDate } = requested;
  const frequency = knownFrequency(requested.frequency);
  const timezone = requested.timezone ?? DEFAULT_TIMEZONE;
  checkTimezone(timezone);
  checkDate('start_date', anchor);
  if (endDate === undefined) return { frequency, anchor, timezone };
  checkDate('end_date', endDate);
  if (endDate < anchor) {
    throw new MusterError('VALIDATION_ERROR', 'The end_date is before the start_date.', {
      field: 'end_date',
      reason: 'END_BEFORE_START',
      suggestion: 'Give an end_date at or after the start_date, or none to repeat without end.',
    });
  }
  return { frequency, anchor, timezone, endDate };
}

function knownFrequency(text: string): Frequency {
  const frequency = FREQUENCIES.find((known) => known === text);
  if (frequency !== undefined) return frequency;
  throw new MusterError('VALIDATION_ERROR', 'There is no such frequency.', {
    field: 'frequency',
    reason: 'INVALID_FREQUENCY',
    suggestion: `Use one of ${FREQUENCIES.join(', ')}.`,
  });
}

/**
 * Offsets such as "+02:00" are refused: they know no daylight saving time, which is what a zone is for.
 * So are abbreviations such as "IST", which Intl takes and IANA does not have.
 */
function checkTimezone(timezone: string): void {
  const isAbbreviation = timezone.length === 3 && !SHORT_TIMEZONES.includes(timezone.toUpperCase());
  if (/^[A-Za-z]/.test(timezone) && !isAbbreviation && isKnownTimezone(timezone)) return;
  throw new MusterError('VALIDATION_ERROR', 'There is no such time zone.', {
    field: 'timezone',
    reason: 'INVALID_TIMEZONE',
    suggestion:
      'Use a name of the IANA time zone database, such as "Europe/Berlin", or leave it out for UTC.',
  });
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
  throw new MusterError('VALIDATION_ERROR', `The ${field} is not a date between the years 1 and 9999.`, {
    field,
    reason: 'INVALID_DATE',
  });
}

/**
 * One occurrence of a rule.
 *
 * `on` is its calendar date in the rule's zone, `YYYY-MM-DD`: a rule has at most one occurrence a date. It
 * is the date that the rule means. Where the clock is put forward over midnight, `due` may be just after it.
 */
export interface Occurrence {
  readonly on: string;
  readonly due: Date;
}

/** The id of an occurrence's to-do, so that whoever creates it, and however often, makes one. */
export function occurrenceId(recurringTaskId: string, on: string): string {
  return `${recurringTaskId}_${on}`;
}

/** What makes to-dos again and again: `recurringTasks/{id}`. */
export interface RecurringTask {
  readonly id: string;
  readonly ownerUid: string;
  readonly title: string;
  readonly description?: string;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly rule: RecurrenceRule;
  readonly createdAt: Date;
  /** The last occurrence that was made. Only what ends this one makes another. */
  readonly latest: Occurrence;
  /** No more occurrences come: it was deleted, or the last one was done. */
  readonly endedAt?: Date;
}
