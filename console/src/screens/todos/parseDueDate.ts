/** Detects the due date in a title: `Call the bank tomorrow 9:30`. Ambiguous dates are not detected. */

export interface ParsedDueDate {
  /** Title without the words of the date. */
  readonly title: string;
  readonly words: string;
  readonly at: Date;
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const WHEN =
  /^(?<title>.*?\S)\s+(?<words>(?:(?<day>today|tomorrow)|(?:on )?(?<weekday>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|in (?<count>\d{1,3}) (?<unit>minute|hour|day|week)s?)(?: (?:at )?(?<hours>[01]?\d|2[0-3]):(?<minutes>[0-5]\d))?)$/i;

const UNITS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 };

/** End of the working day, for a date without a time. */
const EVENING = 18;

/** @returns undefined if the title contains no date, or a past one */
export function parseDueDate(text: string, now: Date): ParsedDueDate | undefined {
  const {
    title = '',
    words = '',
    day,
    weekday,
    count,
    unit = '',
    hours,
    minutes,
  } = WHEN.exec(text.trim())?.groups ?? {};
  if (words === '') return undefined;
  const time: Time = hours === undefined ? undefined : [Number(hours), Number(minutes)];
  const length = UNITS[unit.toLowerCase()];
  // `in 2 hours 9:30` contains two times.
  if (length !== undefined && time !== undefined) return undefined;
  const at =
    length === undefined
      ? onDay(now, daysAhead(now, { day, weekday, count, unit }), time)
      : new Date(now.getTime() + Number(count) * length);
  return at > now ? { title, words, at } : undefined;
}

type Time = readonly [hours: number, minutes: number] | undefined;

interface Named {
  readonly day: string | undefined;
  readonly weekday: string | undefined;
  readonly count: string | undefined;
  readonly unit: string;
}

function daysAhead(now: Date, { day, weekday, count, unit }: Named): number {
  if (day !== undefined) return day.toLowerCase() === 'today' ? 0 : 1;
  if (weekday === undefined) return Number(count) * (unit.toLowerCase() === 'week' ? 7 : 1);
  const named = DAYS.findIndex((name) => name.startsWith(weekday.toLowerCase()));
  // A weekday means its next occurrence after today, because people write "today" for the current day.
  return ((named - now.getDay() + 6) % 7) + 1;
}

function onDay(now: Date, ahead: number, [hours, minutes]: Exclude<Time, undefined> = [EVENING, 0]): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead, hours, minutes);
}
