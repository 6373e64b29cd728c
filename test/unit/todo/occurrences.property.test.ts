/** Occurrences of random recurrence rules in every time zone, compared with independent calculations. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import rrule from 'rrule';
import {
  firstOccurrence,
  nextOccurrence,
  startingOnItsDay,
} from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import type { Occurrence } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import {
  FREQUENCIES,
  type RecurrenceRule,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { inRuns } from '../../support/properties.ts';
import { DAY, firstInstant, walkToNext, wallClock } from './calendarWalk.ts';

const ZONES = Intl.supportedValuesOf('timeZone');

const date = (from: string, to: string): fc.Arbitrary<Date> =>
  fc.date({ min: new Date(from), max: new Date(to), noInvalidDate: true });

const rules: fc.Arbitrary<RecurrenceRule> = fc
  .record({
    frequency: fc.constantFrom(...FREQUENCIES),
    start_date: date('1970-01-01', '2100-01-01'),
    timezone: fc.constantFrom(...ZONES, 'UTC'),
    days: fc.option(fc.nat(5000)),
  })
  .map(({ days, ...rule }) => ({
    ...rule,
    ...(days !== null && { end_date: new Date(rule.start_date.getTime() + days * DAY) }),
  }));

/** Rules that often start at the end of a month or in the hour of a clock change. */
const pointedRules: fc.Arbitrary<RecurrenceRule> = fc
  .tuple(rules, fc.constantFrom(28, 29, 30, 31), fc.constantFrom(0, 1, 2, 3, 23), fc.constantFrom(0, 30))
  .map(([rule, day, hour, minute]) => {
    const year = rule.start_date.getUTCFullYear();
    const wall = Date.UTC(year, rule.start_date.getUTCMonth(), day, hour, minute);
    const anchor = firstInstant(wall, rule.timezone);
    return anchor === undefined
      ? rule
      : { frequency: rule.frequency, timezone: rule.timezone, start_date: new Date(anchor) };
  });

const anyRule = fc.oneof(rules, pointedRules);

function chain(rule: RecurrenceRule, length: number): Occurrence[] {
  const found = [firstOccurrence(rule)];
  while (found.length < length) {
    const last = found[found.length - 1]!;
    const next = nextOccurrence(rule, last.due, last.on);
    if (next === undefined) break;
    found.push(next);
  }
  return found;
}

describe('occurrences of a recurrence rule', () => {
  it('match a search through every day of the calendar, after any instant', () =>
    inRuns(600).forAll(anyRule, date('1969-01-01', '2200-01-01'), (rule, after) => {
      assert.deepEqual(nextOccurrence(rule, after), walkToNext(rule, after));
    }));

  it('match the occurrences of the package rrule in UTC', () =>
    inRuns(150).forAll(anyRule, (zoned) => {
      const rule = {
        ...zoned,
        timezone: 'UTC',
        start_date: new Date(Math.floor(zoned.start_date.getTime() / 1000) * 1000),
      };
      const other = new rrule.RRule({
        freq: rrule.RRule[rule.frequency],
        dtstart: rule.start_date,
        until: rule.end_date ?? null,
        ...(rule.frequency === 'MONTHLY' && monthDay(rule.start_date.getUTCDate())),
      });
      const expected = other.all((_, index) => index < 20);
      const dueTimes = chain(rule, 20).map(({ due }) => due);
      assert.deepEqual(dueTimes, expected);
    }));

  it('match the occurrences of the package rrule in UTC, also with an interval and days', () => {
    const days = fc.uniqueArray(fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'), { minLength: 1 });
    const ordinal = fc.constantFrom('1', '2', '3', '4', '-1');
    const chosen = fc.oneof(
      fc.record({ frequency: fc.constant('WEEKLY' as const), days }),
      fc.record({
        frequency: fc.constant('MONTHLY' as const),
        days: fc.tuple(ordinal, days).map(([n, [d]]) => [n + d]),
      }),
      fc.record({ frequency: fc.constant('MONTHLY' as const), days: fc.constantFrom(['-1'], ['5'], ['1', '15']) }),
    );
    const intervals = fc.integer({ min: 1, max: 4 });
    inRuns(150).forAll(chosen, intervals, date('2000-01-01', '2090-01-01'), (some, interval, start) => {
      start.setUTCMilliseconds(0);
      const rule = startingOnItsDay({ ...some, interval, timezone: 'UTC', start_date: start });
      const text = some.days.every((day) => /^-?\d+$/.test(day)) ? 'BYMONTHDAY' : 'BYDAY';
      const parsed = rrule.RRule.parseString(`FREQ=${some.frequency};INTERVAL=${interval};${text}=${some.days}`);
      const other = new rrule.RRule({ ...parsed, dtstart: rule.start_date });
      const expected = other.all((_, index) => index < 20);
      const dueTimes = chain(rule, 20).map(({ due }) => due);
      assert.deepEqual(dueTimes, expected);
      assert.ok(rule.start_date >= start);
    });
  });

  it('are in order, at the same time of day except in skipped hours', () =>
    inRuns(150).forAll(anyRule, (rule) => {
      const occurrences = chain(rule, 15);
      const timeOfDay = wallClock(rule.start_date.getTime(), rule.timezone) - Date.parse(occurrences[0]!.on);
      assert.deepEqual(occurrences[0]?.due, rule.start_date);
      occurrences.slice(1).forEach(({ on, due }, index) => {
        const previous = occurrences[index]!;
        assert.ok(due > previous.due && on > previous.on, `${on} follows ${previous.on}`);
        assert.ok(rule.end_date === undefined || due <= rule.end_date);
        const meant = Date.parse(on) + timeOfDay;
        const shown = wallClock(due.getTime(), rule.timezone);
        const isInGap = firstInstant(meant, rule.timezone) === undefined;
        assert.ok(isInGap ? shown > meant : shown === meant, `${due.toISOString()} of ${on}`);
      });
    }));

  it('do not depend on the previous occurrence, so that they never drift', () =>
    inRuns(150).forAll(anyRule, fc.nat(11), (rule, steps) => {
      const occurrences = chain(rule, 12);
      const one = occurrences[Math.min(steps, occurrences.length - 1)]!;
      const justBefore = new Date(one.due.getTime() - 1);
      assert.deepEqual(nextOccurrence(rule, justBefore), one);
    }));
});

describe('occurrences of a daily to-do across clock changes', () => {
  it(`keep the time of day in all ${ZONES.length} time zones`, () => {
    for (const timezone of ZONES)
      for (const change of changesOfTheClock(timezone)) {
        const rule: RecurrenceRule = { frequency: 'DAILY', timezone, start_date: new Date(change - 3 * DAY) };
        for (const half of [-1, 0, 1]) {
          const shifted = { ...rule, start_date: new Date(rule.start_date.getTime() + half * 1_800_000) };
          const after = new Date(change - DAY);
          const next = nextOccurrence(shifted, after);
          assert.deepEqual(next, walkToNext(shifted, after), `${timezone} ${shifted.start_date.toISOString()}`);
          assert.deepEqual(nextOccurrence(shifted, next!.due), walkToNext(shifted, next!.due), timezone);
        }
      }
  });
});

/** Returns the times of the clock changes in a zone in 2026, to the minute. */
function changesOfTheClock(timezone: string): number[] {
  const offset = (instant: number): number => wallClock(instant, timezone) - instant;
  const quarters = [0, 3, 6, 9, 12].map((month) => Date.UTC(2026, month, 15));
  return quarters.slice(1).flatMap((end, index) => {
    let [from, to] = [quarters[index]!, end];
    if (offset(from) === offset(to)) return [];
    while (to - from > 60_000) {
      const middle = from + Math.floor((to - from) / 2);
      if (offset(middle) === offset(from)) from = middle;
      else to = middle;
    }
    return [Math.round(to / 60_000) * 60_000];
  });
}

function monthDay(day: number): { bymonthday: number[]; bysetpos: number[] } {
  return { bymonthday: [28, 29, 30, 31, day].filter((one) => one <= day), bysetpos: [-1] };
}
