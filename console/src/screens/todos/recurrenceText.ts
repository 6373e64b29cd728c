/** A recurring to-do in words. */
import type { Recurring } from '../../live/documents.ts';
import { dayOf } from '../../parts/dates.ts';

type Rule = Pick<Recurring, 'frequency' | 'start_date' | 'timezone' | 'end_date' | 'latest_due'>;

/** Returns `every week on Tuesday at 16:00, Europe/Berlin; now Tue 24 Nov`. The last day is in that time zone. */
export function recurrenceText({ frequency, start_date, timezone, end_date, latest_due }: Rule): string {
  const timeZone = zoneKnownHere(timezone);
  const said = (options: Intl.DateTimeFormatOptions, language?: string) =>
    new Intl.DateTimeFormat(language, { timeZone, ...options }).format(start_date);
  const on = {
    DAILY: 'every day',
    WEEKLY: `every ${said({ weekday: 'long' })}`,
    MONTHLY: `every month on day ${said({ day: 'numeric' }, 'en')}`,
  }[frequency];
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
