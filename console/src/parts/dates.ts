/** Times and durations in words, in the reader's language. */

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a duration as text: `45 s`, `12 min`, `3 h 20 min`, `2 days`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / SECOND));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) {
    const minutes = Math.floor((seconds % HOUR) / MINUTE);
    return minutes === 0 ? `${Math.floor(seconds / HOUR)} h` : `${Math.floor(seconds / HOUR)} h ${minutes} min`;
  }
  const days = Math.floor(seconds / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const DAY_OPTIONS = { weekday: 'short', day: 'numeric', month: 'short' } as const;
const day = new Intl.DateTimeFormat(undefined, DAY_OPTIONS);

export function timeOfDay(at: Date): string {
  return time.format(at);
}

/** @param timeZone time zone of the day; if omitted, the reader's time zone */
export function dayOf(at: Date, timeZone?: string): string {
  return (timeZone === undefined ? day : new Intl.DateTimeFormat(undefined, { ...DAY_OPTIONS, timeZone })).format(at);
}

/** Returns the value of a `datetime-local` field, in the person's time zone; empty if there is no date. */
export function localInstant(date: Date | null): string {
  if (date === null) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
