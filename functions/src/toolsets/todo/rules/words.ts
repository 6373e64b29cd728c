/**
 * Dates and repetitions in words: `tomorrow 9:30`, `every second Monday at 9`. chrono-node reads dates and times, and
 * rrule reads repetitions. All times are wall-clock times, because only the caller knows the time zone.
 *
 * Loading this module takes tens of milliseconds: import it lazily.
 */
import { casual, type ParsedResult, type ParsingReference } from 'chrono-node/en';
import rrule from 'rrule';

export interface Repetition {
  readonly frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  readonly interval?: number;
  /** As the argument `days` of create_recurring_task. */
  readonly days?: readonly string[];
}

/** Meaning of words: a date, `YYYY-MM-DD`, or a repetition, each perhaps with a time, `HH:MM`. */
export type Meaning = { readonly time?: string } & (
  | { readonly date: string; readonly repetition?: undefined }
  | { readonly repetition: Repetition; readonly date?: undefined }
);

/** Time of words that contain none: the end of the working day. */
export const DEFAULT_TIME = '18:00';

const TIME = /\s+(?:at\s+)?(?:noon|midnight|\d{1,2}:\d\d(?:\s*[ap]m)?|\d{1,2}\s*[ap]m)$|\s+at\s+\d{1,2}$/i;
const REPEATS = /(?:^|\s)(?:every|each|daily|weekly|monthly)\b/gi;

/** A title that ends with such a word has lost its end, so the rest of the text was not understood. */
const CUT = /(?:^|[\s,])(?:every|each|other|the|of|and|,|first|second|third|fourth|last|\d+(?:st|nd|rd|th))$/i;

/** rrule ignores words that it does not know, so only these words are passed to it. */
const KNOWN = new Set(
  'every on the and , day days week weeks month months weekday weekdays last first second third fourth'.split(' '),
);

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const DAY_CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** Other ways to say a repetition, each with the way that rrule knows. */
const WAYS: readonly (readonly [RegExp, string])[] = [
  [/\s*,\s*/g, ' , '],
  [/^each\b/, 'every'],
  [/^daily\b/, 'every day'],
  [/^weekly\b/, 'every week'],
  [/^monthly\b/, 'every month'],
  [/^every (?:the )?(\S+) (\w+) of (?:the|each|every) month$/, 'every month on the $1 $2'],
  [/^every (first|1st|third|3rd|fourth|4th|last) (\w+day)$/, 'every month on the $1 $2'],
  [/^every (\d{1,2}(?:st|nd|rd|th))$/, 'every month on the $1'],
  [/^every (?:other|second|2nd) (day|week|month)\b/, 'every 2 $1s'],
  [/^every (?:other|second|2nd) (\w+day)\b/, 'every 2 weeks on $1'],
];

const { RRule } = rrule;

const FREQUENCIES = new Map<unknown, Repetition['frequency']>([
  [RRule.DAILY, 'DAILY'],
  [RRule.WEEKLY, 'WEEKLY'],
  [RRule.MONTHLY, 'MONTHLY'],
]);

/**
 * Returns what a whole text means; undefined if it contains anything else, is ambiguous, or means a past day.
 * @param now the present time, and the minutes by which the clock is ahead of UTC
 */
export function meaningOf(text: string, now: ParsingReference): Meaning | undefined {
  const words = text.trim().replace(/^(?:at|by|due|on)\s+/i, '');
  const time = TIME.exec(words)?.[0] ?? '';
  const repetition = repetitionOf(words.slice(0, words.length - time.length));
  if (repetition === undefined) return dateIn(words, now)?.meaning;
  const found = time === '' ? undefined : casual.parse(time, now)[0];
  return { repetition, ...(found && { time: timeOf(found) }) };
}

/**
 * Returns the words at the end of a text that mean a date or a repetition, and the text before them as `title`;
 * undefined if they are the whole text.
 */
export function wordsAtEnd(text: string, now: ParsingReference) {
  const whole = text.trim();
  const starts = [...whole.matchAll(REPEATS)].map(({ index }) => index);
  for (const start of [...starts, dateIn(whole, now)?.start ?? 0]) {
    const title = whole
      .slice(0, start)
      .trim()
      .replace(/\s+(?:at|by|due|on)$/i, '');
    const words = whole.slice(title.length).trim();
    const meaning = meaningOf(words, now);
    if (title === '' || meaning === undefined) continue;
    // Words before it that mean a date, too, would contradict it.
    return CUT.test(title) || dateIn(title, now) ? undefined : { title, words, meaning };
  }
  return undefined;
}

/** Whether a text seems to contain a repetition. If it is not understood, the person must be notified. */
export function seemsToRepeat(text: string): boolean {
  return text.search(REPEATS) >= 0;
}

/** Returns the date at the end of a text, and where its words start; only a `meaning` if these are the whole text. */
function dateIn(text: string, now: ParsingReference) {
  const found = casual.parse(text, now, { forwardDate: true }).at(-1);
  if (found === undefined || found.end || found.index + found.text.length !== text.length) return undefined;
  const meaning = found.index === 0 ? meaningOfDate(found, now) : undefined;
  return { start: found.index, meaning };
}

function meaningOfDate({ start, text }: ParsedResult, now: ParsingReference): Meaning | undefined {
  const isDay = start.isCertain('day') || start.isCertain('weekday');
  const isTime = start.isCertain('hour') || /morning|noon|evening|night/i.test(text);
  // `3/4` is another day in America than in Europe, `at 5` is in the morning or in the afternoon, and `last` is past.
  if (/\d[/.]\d|\blast\b/i.test(text) || (!isDay && !/:|[ap]m|noon|night|hour|minute/i.test(text))) return undefined;
  const part = (name: 'year' | 'month' | 'day') => start.get(name) ?? 0;
  const date = new Date(Date.UTC(part('year'), part('month') - 1, part('day')));
  // ISO texts of wall-clock times can be compared.
  const present = new Date(Number(now.instant) + Number(now.timezone) * 60_000).toISOString();
  const today = present.slice(0, 10);
  // A weekday is its next day after today, because people write "today" for the present day.
  if (start.isCertain('weekday') && day(date) === today) date.setUTCDate(date.getUTCDate() + 7);
  const time = isTime ? timeOf({ start }) : undefined;
  if (`${day(date)}T${time ?? '24:00'}` <= present.slice(0, 16)) return undefined;
  return { date: day(date), ...(time !== undefined && { time }) };
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function timeOf({ start }: Pick<ParsedResult, 'start'>): string {
  return (['hour', 'minute'] as const).map((part) => String(start.get(part) ?? 0).padStart(2, '0')).join(':');
}

function repetitionOf(words: string): Repetition | undefined {
  const said = words
    .trim()
    .toLowerCase()
    .replace(/\b(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:days?)?\b/g, fullName);
  const text = WAYS.reduce((result, [way, known]) => result.replace(way, known), said);
  const isKnown = text
    .split(/\s+/)
    .every((word) => KNOWN.has(word) || WEEKDAYS.includes(word) || /^\d{1,2}(?:st|nd|rd|th)?$/.test(word));
  if (!isKnown || text.lastIndexOf('every ') !== 0) return undefined;
  try {
    const { freq, interval, byweekday, bymonthday } = RRule.parseText(text) ?? {};
    const frequency = FREQUENCIES.get(freq);
    if (frequency === undefined) return undefined;
    const weekdays = [byweekday ?? []]
      .flat()
      .map((one) => (typeof one === 'object' ? `${one.n ?? ''}${DAY_CODES[one.weekday]}` : String(one)));
    const days = [...weekdays, ...[bymonthday ?? []].flat().map(String)];
    return { frequency, ...(interval && { interval }), ...(days.length > 0 && { days }) };
  } catch {
    return undefined;
  }
}

function fullName(_: string, short: string): string {
  return WEEKDAYS.find((name) => name.startsWith(short)) ?? short;
}
