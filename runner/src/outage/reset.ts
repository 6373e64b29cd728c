/** Parses the time at which an account limit ends from the output of Claude Code 2.1.197 and Gemini CLI 0.61.0. */

/** `Claude AI usage limit reached|1754388000` */
const EPOCH = /limit reached\|(\d{10,13})\b/;

/** `Your quota will reset after 18h34m17s.`, `Please retry in 34.07s`, `"retryDelay": "34s"` */
const SPAN = /(?:retry in|reset after|retryDelay\W{1,8})\s*((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)/i;

/** `resets 3pm`, `resets 3:45pm (Europe/Berlin)`, `resets Oct 6, 1pm`, `Access resets at 3:45 PM GMT+2.` */
const TIME =
  /resets (?:at )?(?:([A-Z][a-z]{2}) (\d{1,2})(?:,| at) )?(\d{1,2})(?::(\d{2}))?\s?([ap])m(?: \(([\w+/-]+)\))?/i;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DAY_MS = 86_400_000;

/**
 * Returns the time at which a limit ends according to a text, to the minute; undefined if the text has no such time.
 * @param now current time in milliseconds since 1970; a time of day in the text means its next occurrence
 */
export function resetIn(text: string, now: number): number | undefined {
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch !== undefined) return milliseconds(Number(epoch));
  const span = SPAN.exec(text)?.[1];
  return span === undefined ? timeIn(text, now) : now + lengthOf(span);
}

/** Converts a CLI's timestamp, in seconds or milliseconds since 1970, to milliseconds. */
export function milliseconds(epoch: number): number {
  return epoch < 1e12 ? epoch * 1000 : epoch;
}

function lengthOf(span: string): number {
  return [...span.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/gi)].reduce(
    (sum, [, count, unit = 's']) => sum + Number(count) * (UNITS[unit.toLowerCase()] ?? 0),
    0,
  );
}

function timeIn(text: string, now: number): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, monthName, day, hour, minute = '0', half = 'a', zone] = match;
  const wall = wallClock(now, zone);
  const hours = (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  const atTime = (base: Date): number =>
    Date.UTC(base.getUTCFullYear(), base.getUTCMonth(), base.getUTCDate(), hours, Number(minute));
  const month = monthName === undefined ? -1 : MONTHS.indexOf(monthName.toLowerCase());
  let target = atTime(month < 0 ? wall : new Date(Date.UTC(wall.getUTCFullYear(), month, Number(day))));
  if (month < 0 && target <= wall.getTime()) target += DAY_MS;
  // Dates have no year, so in December, "Jan 2" means the next year.
  if (month >= 0 && target < wall.getTime() - 180 * DAY_MS)
    target = atTime(new Date(Date.UTC(wall.getUTCFullYear() + 1, month, Number(day))));
  return now + target - wall.getTime();
}

/** Returns a Date whose UTC fields are the local date and time of a time zone. */
function wallClock(now: number, zone: string | undefined): Date {
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      ...(zone !== undefined && { timeZone: zone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  } catch {
    return wallClock(now, undefined); // The zone is unknown, so the machine's zone is used.
  }
}
