import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  firstOccurrence,
  followingOccurrences,
  inTimezone,
  lastInstant,
  lastOccurrence,
  nextOccurrence,
} from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import {
  FREQUENCIES,
  type Occurrence,
  type RecurrenceRule,
  recurrenceRule,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { inRuns } from '../../support/properties.ts';
import { refusal } from '../../support/refusal.ts';
import { DAY, firstInstant, wallClock } from './calendarWalk.ts';
import { MemoryTodos } from './memory.ts';

const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
const LENGTH = 12;
const zone = fc.constantFrom(...ZONES);

/** Rules that often start at the end of a month or in an hour that many zones skip. */
const rules: fc.Arbitrary<RecurrenceRule> = fc
  .record({
    frequency: fc.constantFrom(...FREQUENCIES),
    month: fc.nat({ max: 11 }),
    day: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.constantFrom(26, 28, 31)),
    hour: fc.oneof(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 2)),
    minute: fc.constantFrom(0, 30),
    timezone: zone,
  })
  .map(({ frequency, month, day, hour, minute, timezone }) => {
    const wall = Date.UTC(2027, month, day, hour, minute);
    return { frequency, timezone, start_date: new Date(firstInstant(wall, timezone) ?? wall) };
  });

function series(rule: RecurrenceRule, length = LENGTH): readonly Occurrence[] {
  const first = firstOccurrence(rule);
  return [first, ...followingOccurrences(rule, first, length - 1)];
}

/** Returns the local time of day at which the rule's occurrences are due. */
function timeOf(rule: RecurrenceRule): number {
  const start = rule.local_start
    ? Date.parse(`${rule.local_start}Z`)
    : wallClock(rule.start_date.getTime(), rule.timezone);
  return ((start % DAY) + DAY) % DAY;
}

describe('recurring to-do whose time zone is changed', () => {
  it('is due at the same local time: 10:00 in Berlin becomes 10:00 in New York', () => {
    const rule = {
      frequency: 'DAILY',
      start_date: new Date('2027-01-04T09:00:00Z'),
      timezone: 'Europe/Berlin',
    } as const;
    const moved = inTimezone(rule, 'America/New_York');
    assert.deepEqual(nextOccurrence(moved, rule.start_date, '2027-01-04'), {
      on: '2027-01-05',
      due: new Date('2027-01-05T15:00:00Z'),
    });
  });

  it('loses no occurrence if the new zone is farther west', () => {
    const rule = { frequency: 'DAILY', start_date: new Date('2027-01-01T20:00:00Z'), timezone: 'Asia/Tokyo' } as const;
    const { on, due } = firstOccurrence(rule);
    assert.equal(on, '2027-01-02');
    const next = nextOccurrence(inTimezone(rule, 'America/Los_Angeles'), due, on);
    assert.deepEqual(next, { on: '2027-01-03', due: new Date('2027-01-03T13:00:00Z') });
  });

  it('returns to its time of day after a first day on which the clock skips that time', () => {
    const rule = { frequency: 'DAILY', start_date: new Date('2027-03-28T02:30:00Z'), timezone: 'UTC' } as const;
    const moved = inTimezone(rule, 'Europe/Berlin');
    const found = series(moved, 2).map(({ due }) => due.toISOString());
    assert.deepEqual(found, ['2027-03-28T01:30:00.000Z', '2027-03-29T00:30:00.000Z']);
    assert.deepEqual(inTimezone(moved, 'UTC'), rule);
  });

  it('keeps its dates and its time of day in every zone, and after the return to its first zone', () =>
    inRuns(150).forAll(rules, zone, zone, (rule, one, other) => {
      const moved = inTimezone(inTimezone(rule, one), other);
      assert.equal(timeOf(moved), timeOf(rule));
      const [before, after] = [series(rule), series(moved)];
      const days = after.map(({ on }) => on);
      const expected = before.map(({ on }) => on);
      assert.deepEqual(days, expected);
      for (const { on, due } of after) {
        const meant = Date.parse(on) + timeOf(moved);
        const isSkipped = firstInstant(meant, other) === undefined;
        const shown = wallClock(due.getTime(), other);
        assert.ok(isSkipped ? shown > meant : shown === meant, `${due.toISOString()} of ${on} in ${other}`);
      }
      const home = inTimezone(moved, rule.timezone);
      assert.deepEqual([home.local_start, firstOccurrence(home).on], [undefined, firstOccurrence(rule).on]);
    }));

  it('continues with the date after that of its open occurrence', () =>
    inRuns(300).forAll(
      rules,
      zone,
      fc.nat({ max: LENGTH - 2 }),
      fc.constantFrom(...FREQUENCIES),
      (rule, to, at, frequency) => {
        const open = series(rule)[at];
        assert.ok(open);
        const moved = { ...inTimezone(rule, to), frequency };
        const next = nextOccurrence(moved, open.due, open.on);
        const dates = {
          frequency,
          timezone: 'UTC',
          start_date: new Date(Date.parse(firstOccurrence(rule).on) + timeOf(rule)),
        };
        const latest = { on: open.on, due: new Date(Date.parse(open.on) + timeOf(rule)) };
        const following = followingOccurrences(dates, latest, 4).map(({ on }) => on);
        // The next date may precede the date of the open occurrence only if the zones differ by at least a day.
        const isLater = (on: string) => {
          const wall = Date.parse(on) + timeOf(moved);
          return Number(firstInstant(wall, to) ?? firstInstant(wall + DAY, to)) > open.due.getTime();
        };
        assert.equal(next?.on, following.find(isLater));
      },
    ));

  it('keeps its last date, because the end of the rule moves to the new zone too', () =>
    inRuns(200).forAll(rules, zone, fc.nat({ max: LENGTH - 1 }), (rule, to, at) => {
      const last = series(rule)[at];
      assert.ok(last);
      const ending = { ...rule, end_date: last.due };
      assert.equal(lastOccurrence(ending)?.on, last.on);
      assert.equal(lastOccurrence(inTimezone(ending, to))?.on, last.on);
    }));
});

describe('end of a recurring to-do', () => {
  const anchor = new Date('2027-01-31T22:30:00Z');
  const weekly = { frequency: 'WEEKLY', start_date: anchor } as const;

  it('includes the occurrence of the last day if the end is the midnight of that day', () => {
    const rule = recurrenceRule({ ...weekly, end_date: new Date('2027-02-14T00:00:00Z') }, lastInstant);
    assert.equal(rule.end_date?.toISOString(), '2027-02-14T23:59:59.999Z');
    assert.equal(lastOccurrence(rule)?.on, '2027-02-14');
  });

  it('remains unchanged if it is not midnight in the time zone of the rule', () => {
    for (const timezone of ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo']) {
      const endDate = new Date('2027-02-14T00:00:00Z');
      assert.deepEqual(recurrenceRule({ ...weekly, timezone, end_date: endDate }, lastInstant).end_date, endDate);
    }
  });

  it('may be the midnight of the day of the first occurrence', async () => {
    const endDate = new Date('2027-01-31T00:00:00Z');
    const rule = recurrenceRule({ ...weekly, end_date: endDate }, lastInstant);
    assert.deepEqual(lastOccurrence(rule), firstOccurrence(rule));
    const earlier = { ...weekly, end_date: new Date('2027-01-30T00:00:00Z') };
    const { details } = await refusal(() => recurrenceRule(earlier, lastInstant));
    assert.equal(details.reason, 'END_BEFORE_START');
  });

  it('is at most the last instant that can be stored', () => {
    const end = lastInstant(new Date('9999-12-31T00:00:00-11:00'), 'Pacific/Pago_Pago');
    assert.equal(end.toISOString(), '9999-12-31T23:59:59.999Z');
  });

  it('includes the occurrence on the last day in any time zone, and no later one', () =>
    inRuns(200).forAll(rules, fc.nat({ max: LENGTH - 1 }), (rule, at) => {
      const last = series(rule)[at];
      assert.ok(last);
      const midnight = firstInstant(Date.parse(last.on), rule.timezone);
      if (midnight === undefined || midnight < rule.start_date.getTime() - DAY) return;
      const ending = recurrenceRule({ ...rule, end_date: new Date(midnight) }, lastInstant);
      assert.equal(lastOccurrence(ending)?.on, last.on);
    }));
});

describe('update_recurring_task', () => {
  const anchor = new Date('2030-01-02T22:30:00Z');
  const started = async (more: object = {}) => {
    const home = new MemoryTodos();
    const draft = { title: 'Review', frequency: 'DAILY', start_date: anchor, timezone: 'Europe/Berlin', ...more };
    const { recurringTask, first } = await home.recurring.create(home.owner, draft, home.record);
    const edit = async (changes: object) =>
      (await home.recurring.edit(home.owner, recurringTask.id, changes, home.record)).recurringTask;
    return { home, edit, first };
  };

  it('treats an end at midnight, in the time zone that the call sets, as the end of that day', async () => {
    const { edit } = await started();
    const midnight = { end_date: new Date('2030-01-10T05:00:00Z'), timezone: 'America/New_York' };
    assert.deepEqual((await edit(midnight)).end_date, new Date('2030-01-11T04:59:59.999Z'));
  });

  it('keeps the end on the same day if the call sets only another time zone', async () => {
    const { edit } = await started({ end_date: new Date('2030-01-09T23:00:00Z') });
    const { end_date: endDate, start_date: moved } = await edit({ timezone: 'America/New_York' });
    assert.deepEqual([endDate, moved], [new Date('2030-01-11T04:59:59.999Z'), new Date('2030-01-03T04:30:00Z')]);
    assert.deepEqual((await edit({ title: 'Another' })).end_date, endDate);
  });

  it('changes the frequency and the zone, but not the open occurrence, and can be undone', async () => {
    const { home, edit, first } = await started();
    const before = home.state.recurring.values;
    await edit({ frequency: 'WEEKLY', timezone: 'Asia/Tokyo' });
    assert.deepEqual(home.all, [first]);
    assert.deepEqual(home.state.reminders.values[0]?.remind_at, new Date(anchor.getTime() - 3_600_000));
    const [edition] = home.entries;
    const { next } = await home.todos.complete(home.owner, first.id, home.record);
    assert.deepEqual([next?.occurs_on, next?.due_date], ['2030-01-09', new Date('2030-01-09T14:30:00Z')]);
    assert.deepEqual((await home.undo(String(edition?.id))).refused, []);
    const [{ start_date: restored, timezone, frequency } = assert.fail()] = home.state.recurring.values;
    const [{ start_date: was } = assert.fail()] = before;
    assert.deepEqual([restored, timezone, frequency], [was, 'Europe/Berlin', 'DAILY']);
    const completed = await home.todos.complete(home.owner, String(next?.id), home.record);
    assert.deepEqual(completed.next?.due_date, new Date('2030-01-10T22:30:00Z'));
  });

  it('rejects an unknown time zone and changes nothing', async () => {
    const { home, edit } = await started();
    const before = home.state.recurring.values;
    const { details } = await refusal(() => edit({ timezone: 'Mars/Phobos', frequency: 'WEEKLY' }));
    assert.equal(details.reason, 'INVALID_TIMEZONE');
    assert.deepEqual(home.state.recurring.values, before);
  });
});
