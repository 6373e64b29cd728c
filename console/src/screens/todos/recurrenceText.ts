/** A recurring to-do in words. */
import type { Repetition } from '../../../../functions/src/toolsets/todo/rules/words.ts';
import { dayOf, knownTimeZone, LOCALE } from '../../../ui/format.ts';
import type { Recurring } from '../../live/documents.ts';

type Rule = Pick<Recurring, 'frequency' | 'start_date' | 'timezone' | 'end_date'> &
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

/** Returns `Every Tuesday at 16:00`, with the time zone if it is not the reader's, and the last day if there is one. */
export function recurrenceText(rule: Rule, own = Intl.DateTimeFormat().resolvedOptions().timeZone): string {
  const { frequency, interval, days, start_date, timezone, end_date } = rule;
  const timeZone = knownTimeZone(timezone);
  const said = (options: Intl.DateTimeFormatOptions, language = LOCALE) =>
    new Intl.DateTimeFormat(language, { timeZone, ...options }).format(start_date);
  const start = { DAILY: '', WEEKLY: said({ weekday: 'long' }), MONTHLY: `day ${said({ day: 'numeric' }, 'en')}` };
  const on = repetitionText({ frequency, ...(interval && { interval }), ...(days && { days }) }, start[frequency]);
  const words = [
    `${on.slice(0, 1).toUpperCase()}${on.slice(1)} at ${said({ timeStyle: 'short' })}`,
    ...(timeZone === own ? [] : [timeZone]),
    ...(end_date === null ? [] : [`until ${dayOf(end_date, timeZone)}`]),
  ];
  return words.join(', ');
}
