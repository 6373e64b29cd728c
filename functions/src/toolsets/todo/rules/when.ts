/** The argument `when`: a due date or a repetition in words. Source: docs/guides/todos.md#in-words. */
import { checkTimezone, DEFAULT_TIMEZONE, type RequestedRule } from './recurring/recurrenceRule.ts';
import { invalid } from './todo.ts';

export type When = { readonly due: Date } | { readonly rule: RequestedRule };

/** @throws MusterError VALIDATION_ERROR with the reason NOT_UNDERSTOOD, INVALID_TIMEZONE */
export async function whenMeant(when: string, now: Date, timezone = DEFAULT_TIMEZONE): Promise<When> {
  checkTimezone(timezone);
  const [{ DEFAULT_TIME, meaningOf }, { atWallClock, minutesAhead, today }] = await Promise.all([
    import('./words.ts'),
    import('./recurring/occurrences.ts'),
  ]);
  const meaning = meaningOf(when, { instant: now, timezone: minutesAhead(now, timezone) });
  if (meaning === undefined) {
    const suggestion =
      'Use words such as "tomorrow 9:30", "Friday", "in 2 hours", "every weekday at 9:00", "every second Monday", "every first Friday of the month", or use due_date.';
    throw invalid('when', 'NOT_UNDERSTOOD', 'These words are not understood as a date or a repetition.', suggestion);
  }
  const { date, repetition, time = DEFAULT_TIME } = meaning;
  if (repetition === undefined) return { due: atWallClock(date, time, timezone) };
  const isPast = atWallClock(today(now, timezone), time, timezone) <= now;
  const start = atWallClock(today(now, timezone, isPast ? 1 : 0), time, timezone);
  return { rule: { ...repetition, timezone, start_date: start } };
}
