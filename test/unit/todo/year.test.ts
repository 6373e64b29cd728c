/** A whole year, held against calendars written by hand: leap day, the ends of months, and clocks that are changed. */
import assert from 'node:assert/strict';
import {
  firstOccurrence,
  nextOccurrence,
} from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import type { Occurrence } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { YEAR } from '../../support/calendars.ts';

describe('a year of recurring to-dos', () => {
  for (const { title, calendar, anchor, ...zoned } of YEAR) {
    it(`${title}: is due when a calendar says so`, async () => {
      const rule = { ...zoned, start_date: new Date(anchor) };
      const due: (Date | undefined)[] = [];
      let next: Occurrence | undefined = firstOccurrence(rule);
      while (due.length < calendar.length) {
        due.push(next?.due);
        next = next && nextOccurrence(rule, next.due, next.on);
      }
      assert.deepEqual(
        due,
        calendar.map((date) => new Date(date)),
      );
    });
  }
});
