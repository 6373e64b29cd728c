/** Occurrences of a year, compared with calendars written by hand: leap day, ends of months and clock changes. */
import assert from 'node:assert/strict';
import { firstOccurrence, nextOccurrence } from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import type { Occurrence } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { YEAR } from '../../support/calendars.ts';

describe('recurring to-do during a year', () => {
  for (const { title, calendar, anchor, ...zoned } of YEAR)
    it(`is due on the dates of the calendar: ${title}`, async () => {
      const rule = { ...zoned, start_date: new Date(anchor) };
      const due: (Date | undefined)[] = [];
      let next: Occurrence | undefined = firstOccurrence(rule);
      while (due.length < calendar.length) {
        due.push(next?.due);
        next = next && nextOccurrence(rule, next.due, next.on);
      }
      const expected = calendar.map((date) => new Date(date));
      assert.deepEqual(due, expected);
    });
});
