/** Times, numbers and plurals, in the forms of the reader's region. The texts are English. */
import { costs } from '../text/common.ts';

const SECOND = 1000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK_MS = 6 * DAY * SECOND;

/** The first of the reader's languages that is a form of English, such as `en-GB`. */
export const LOCALE = globalThis.navigator?.languages?.find((one) => /^en(-|$)/.test(one)) ?? 'en-GB';

/** Formats are slow to create, so each is created once. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(LOCALE, options);
  formats.set(key, known);
  return known;
}

/** Returns a duration as text: `45 s`, `12 min`, `3 h 20 min`, `2 days`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / SECOND));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) {
    const minutes = Math.floor((seconds % HOUR) / MINUTE);
    return minutes === 0 ? `${Math.floor(seconds / HOUR)} h` : `${Math.floor(seconds / HOUR)} h ${minutes} min`;
  }
  return plural(Math.floor(seconds / DAY), ['{n} day', '{n} days']);
}

export const timeOfDay = (at: Date): string => formatOf({ timeStyle: 'short' }).format(at);
export const exactTime = (at: Date): string => formatOf({ timeStyle: 'medium' }).format(at);
export const exactMoment = (at: Date): string => formatOf({ dateStyle: 'full', timeStyle: 'medium' }).format(at);

/** Returns `Wed 25 Nov`, with the year if it is another year. @param timeZone if absent, the reader's time zone */
export function dayOf(at: Date, timeZone?: string, now = new Date()): string {
  const isThisYear = at.getFullYear() === now.getFullYear();
  const options = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  return formatOf({ ...options, ...(!isThisYear && { year: 'numeric' }), ...(timeZone && { timeZone }) }).format(at);
}

/** Returns `Wednesday 25 November`. */
export const longDayOf = (at: Date): string => formatOf({ weekday: 'long', day: 'numeric', month: 'long' }).format(at);

/** Returns `14:02` today, `Mon 19:22` within a week, and the date before. */
export function moment(at: Date, now: number): string {
  if (at.toDateString() === new Date(now).toDateString()) return timeOfDay(at);
  if (Math.abs(now - at.getTime()) < WEEK_MS) return `${formatOf({ weekday: 'short' }).format(at)} ${timeOfDay(at)}`;
  return dayOf(at, undefined, new Date(now));
}

/** Replaces the UTC times in a message of the server by times of the reader's time zone. */
export function withLocalTimes(message: string): string {
  const form = formatOf({ dateStyle: 'medium', timeStyle: 'short' });
  return message.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => form.format(new Date(time)));
}

/** Returns the value of a `datetime-local` field, in the person's time zone; empty if there is no date. */
export function localInstant(date: Date | null): string {
  if (date === null) return '';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

const whole = new Intl.NumberFormat(LOCALE);
export const number = (value: number): string => whole.format(value);

/** Returns `1.5 %` as `1.5%`. @param share from 0 to 1 */
export const percent = (share: number): string =>
  new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** Returns an amount in US dollars with two digits, or with four if it is below one cent. */
export function money(dollars: number): string {
  const digits = dollars !== 0 && Math.abs(dollars) < 0.01 ? 4 : 2;
  return `$${dollars.toLocaleString(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/**
 * Returns a cost. Models without a price in models.json have an unknown cost, which is never shown as 0.
 * @param dollars undefined if the cost is unknown @param unpriced tokens whose cost is unknown
 */
export function costOf(dollars: number | undefined, unpriced = 0): string {
  if (dollars === undefined || (dollars === 0 && unpriced > 0)) return costs.unknown;
  return unpriced > 0 ? fill(costs.partlyUnknown, { cost: money(dollars) }) : money(dollars);
}

const rules = new Intl.PluralRules('en');

/** @param forms texts for one and for several, with `{n}` for the number */
export function plural(n: number, [one, other]: readonly [one: string, other: string]): string {
  return (rules.select(n) === 'one' ? one : other).replace('{n}', number(n));
}

/** Returns the text with its `{names}` replaced. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Returns the time zone if the browser knows it. A browser throws an error for a zone that it does not know. */
export function knownTimeZone(timeZone: string): string {
  try {
    new Intl.DateTimeFormat(LOCALE, { timeZone });
    return timeZone;
  } catch {
    return 'UTC';
  }
}
