/** A recurring to-do in words. */
import type { Repetition } from '../../../../functions/src/toolsets/todo/rules/words.ts';
import type { Recurring } from '../../live/documents.ts';
import { dayOf } from '../../parts/dates.ts';

type Rule = Pick<Recurring, 'frequency' | 'start_date' | 'timezone' | 'end_date' | 'latest_due'> &
  Partial<Pick<Recurring, 'interval' | 'days'>>;

const UNITS = { DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month' } as const;

const WEEKDAYS: Readonly<Record<string, string>> = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
};

const ORDINALS: Readonly<Record<string, string>> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', '-1': 'last' };

/**
 * Returns `every 2 weeks on Monday, Friday`, `every weekday` or `every month on the last day`.
 * @param startDay day of the first occurrence in words, which counts if the rule has no days
 */
export function repetitionText({ frequency, interval = 1, days }: Repetition, startDay = ''): string {
  const unit = UNITS[frequency];
  const every = interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`;
  const on = days?.map(dayText).join(', ') ?? startDay;
  if (on === '') return every;
  if (frequency !== 'WEEKLY' || interval > 1) return `${every} on ${on}`;
  return days?.join() === 'MO,TU,WE,TH,FR' ? 'every weekday' : `every ${on}`;
}

function dayText(day: string): string {
  const [, position = '', weekday = ''] = /^(-?\d+)?([A-Z]{2})?$/.exec(day) ?? [];
  if (weekday === '') return position === '-1' ? 'the last day' : `day ${position}`;
  const name = WEEKDAYS[weekday] ?? weekday;
  return position === '' ? name : `the ${ORDINALS[position] ?? position} ${name}`;
}

/** Returns `every week on Tuesday at 16:00, Europe/Berlin; now Tue 24 Nov`. The last day is in that time zone. */
export function recurrenceText(rule: Rule): string {
  const { frequency, interval, days, start_date, timezone, end_date, latest_due } = rule;
  const timeZone = zoneKnownHere(timezone);
  const said = (options: Intl.DateTimeFormatOptions, language?: string) =>
    new Intl.DateTimeFormat(language, { timeZone, ...options }).format(start_date);
  const start = { DAILY: '', WEEKLY: said({ weekday: 'long' }), MONTHLY: `day ${said({ day: 'numeric' }, 'en')}` };
  const on = repetitionText({ frequency, ...(interval && { interval }), ...(days && { days }) }, start[frequency]);
  const until = end_date === null ? '' : `, until ${dayOf(end_date, timeZone)}`;
  return `${on} at ${said({ timeStyle: 'short' })}, ${timeZone}${until}; now ${dayOf(latest_due)}`;
}

/** Returns the time zone if the browser knows it. A browser throws an error for a zone that it does not know. */
function zoneKnownHere(timezone: string): string {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: timezone });
    return timezone;
  } catch {
    return 'UTC';
  }
}
