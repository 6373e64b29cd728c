import assert from 'node:assert/strict';
import {
  firstOccurrence,
  followingOccurrences,
  nextOccurrence,
  startingOnItsDay,
} from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import type { Occurrence } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import {
  END_OF_TIME,
  type RecurrenceRule,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';

const at = (text: string): Date => new Date(text);
const shown = (found: Occurrence | undefined): string | undefined => found && `${found.on} ${found.due.toISOString()}`;

/** Completes each occurrence that is due before `until`, with a delay of `late` milliseconds. */
async function completed(rule: RecurrenceRule, until: string, late = 0): Promise<Occurrence[]> {
  const found: Occurrence[] = [];
  let next: Occurrence | undefined = firstOccurrence(rule);
  while (next !== undefined && next.due < at(until)) {
    found.push(next);
    next = nextOccurrence(rule, new Date(next.due.getTime() + late), next.on);
  }
  return found;
}

describe('monthly to-do', () => {
  const monthly = (anchor: string, timezone = 'UTC'): RecurrenceRule => ({
    frequency: 'MONTHLY',
    start_date: at(anchor),
    timezone,
  });

  it('shows the future occurrences up to its end, as if each is completed when it is due', () => {
    const rule = { ...monthly('2027-01-31T09:00:00Z'), end_date: at('2027-03-31T09:00:00Z') };
    const next = followingOccurrences(rule, firstOccurrence(rule), 3);
    assert.deepEqual(next.map(shown), ['2027-02-28 2027-02-28T09:00:00.000Z', '2027-03-31 2027-03-31T09:00:00.000Z']);
    const days = followingOccurrences(rule, firstOccurrence(rule), 1).map(({ on }) => on);
    assert.deepEqual(days, ['2027-02-28']);
  });

  it('that starts on the 31st is due on the last day of shorter months, then on the 31st again', async () => {
    const found = await completed(monthly('2027-01-31T09:00:00Z'), '2028-04-01T00:00:00Z', 3_600_000);
    const days = found.map(({ on }) => on);
    assert.deepEqual(days, [
      ...['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31', '2027-06-30', '2027-07-31'],
      ...['2027-08-31', '2027-09-30', '2027-10-31', '2027-11-30', '2027-12-31', '2028-01-31', '2028-02-29'],
      '2028-03-31',
    ]);
    assert.ok(found.every(({ on, due }) => due.toISOString() === `${on}T09:00:00.000Z`));
  });

  it('on the 30th is due on February 29 in leap years, but on February 28 in 2100', async () => {
    const rule = monthly('1999-12-30T12:00:00Z');
    assert.equal(nextOccurrence(rule, at('2000-02-01T00:00:00Z'))?.on, '2000-02-29');
    assert.equal(nextOccurrence(rule, at('2100-02-01T00:00:00Z'))?.on, '2100-02-28');
  });

  it('is due on the last day of the month in its own time zone', async () => {
    // At this instant, February has started in Auckland.
    const rule = monthly('2026-01-31T11:00:00Z', 'Pacific/Auckland');
    assert.equal(shown(nextOccurrence(rule, rule.start_date)), '2026-03-01 2026-02-28T11:00:00.000Z');
  });
});

describe('daily to-do', () => {
  const clocks: readonly [timezone: string, anchor: string, forward: string, back: string][] = [
    ['America/New_York', '2026-01-01T07:30:00Z', '2026-03-08 03:30', '2026-11-01 02:30'],
    ['Europe/Berlin', '2026-01-01T01:30:00Z', '2026-03-29 03:30', '2026-10-25 02:30'],
    ['Australia/Lord_Howe', '2025-12-31T15:15:00Z', '2026-10-04 02:45', '2026-04-05 02:15'],
  ];

  for (const [timezone, anchor, forward, back] of clocks)
    it(`is due at its time in ${timezone} all year, later in skipped hours, once in repeated hours`, async () => {
      const rule: RecurrenceRule = { frequency: 'DAILY', start_date: at(anchor), timezone };
      const found = await completed(rule, '2026-12-31T12:00:00Z', 600_000);
      const clock = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' });
      const local = found.map(({ due }) => clock.format(due));
      assert.equal(local.length, 365);
      assert.equal(new Set(found.map(({ on }) => on)).size, 365);
      const time = local[0]?.slice(11);
      const matching = local.filter((one) => one.slice(11) !== time);
      assert.deepEqual(matching, [forward]);
      assert.equal(local.filter((one) => one.startsWith(back.slice(0, 10))).length, 1);
      assert.ok(local.includes(back));
    });

  it('is due the first time if its local time occurs twice on a day', async () => {
    const rule: RecurrenceRule = {
      frequency: 'DAILY',
      start_date: at('2026-10-20T00:30:00Z'),
      timezone: 'Europe/Berlin',
    };
    const next = nextOccurrence(rule, at('2026-10-24T12:00:00Z'));
    assert.equal(shown(next), '2026-10-25 2026-10-25T00:30:00.000Z');
  });

  it('that starts when a local time occurs for the second time is not due before its start', async () => {
    const rule: RecurrenceRule = {
      frequency: 'DAILY',
      start_date: at('2026-10-25T01:30:00Z'),
      timezone: 'Europe/Berlin',
    };
    const first = nextOccurrence(rule, at('2026-10-25T00:00:00Z'));
    assert.equal(shown(first), '2026-10-25 2026-10-25T01:30:00.000Z');
    assert.equal(shown(nextOccurrence(rule, rule.start_date)), '2026-10-26 2026-10-26T01:30:00.000Z');
  });

  it('keeps its date if the clock skips midnight', async () => {
    const rule: RecurrenceRule = {
      frequency: 'DAILY',
      start_date: at('2024-03-30T01:30:00Z'),
      timezone: 'America/Nuuk',
    };
    const found = await completed(rule, '2024-04-02T00:00:00Z');
    assert.deepEqual(found.map(shown), [
      '2024-03-29 2024-03-30T01:30:00.000Z',
      '2024-03-30 2024-03-31T01:30:00.000Z',
      '2024-03-31 2024-04-01T00:30:00.000Z',
    ]);
    const pastMidnight = at('2024-03-31T01:10:00Z');
    assert.equal(shown(nextOccurrence(rule, pastMidnight)), '2024-03-30 2024-03-31T01:30:00.000Z');
  });

  it('has one occurrence on a day that its time zone skips', async () => {
    const rule: RecurrenceRule = {
      frequency: 'DAILY',
      start_date: at('2011-12-29T20:00:00Z'),
      timezone: 'Pacific/Apia',
    };
    const found = await completed(rule, '2012-01-02T00:00:00Z');
    assert.deepEqual(found.map(shown), [
      '2011-12-29 2011-12-29T20:00:00.000Z',
      '2011-12-30 2011-12-30T20:00:00.000Z',
      '2012-01-01 2011-12-31T20:00:00.000Z',
      '2012-01-02 2012-01-01T20:00:00.000Z',
    ]);
  });
});

describe('next occurrence of a recurring to-do', () => {
  const weekly: RecurrenceRule = { frequency: 'WEEKLY', start_date: at('2026-02-11T09:00:00Z'), timezone: 'UTC' };

  it('of a weekly to-do is on the same weekday throughout the year', async () => {
    const found = await completed(weekly, '2027-02-11T09:00:00Z', 2 * 86_400_000);
    assert.equal(found.length, 53);
    assert.ok(found.every(({ due }) => due.getUTCDay() === 3 && due.getUTCHours() === 9));
  });

  it('is the first occurrence until that is due, and afterwards is later than the given instant', async () => {
    assert.equal(nextOccurrence(weekly, at('2020-01-01T00:00:00Z'))?.on, '2026-02-11');
    assert.equal(nextOccurrence(weekly, weekly.start_date)?.on, '2026-02-18');
  });

  it('is not one of the occurrences that were missed during a long absence', () =>
    assert.equal(nextOccurrence(weekly, at('2046-02-12T00:00:00Z'))?.on, '2046-02-14'));

  it('is later than the original date of a previous occurrence that was postponed and completed', async () => {
    const moved = at('2026-02-16T09:00:00Z');
    assert.equal(nextOccurrence(weekly, moved)?.on, '2026-02-18');
    assert.equal(nextOccurrence(weekly, moved, '2026-02-18')?.on, '2026-02-25');
    const beforeAll = at('2026-02-01T09:00:00Z');
    assert.equal(nextOccurrence(weekly, beforeAll, '2026-02-11')?.on, '2026-02-18');
  });

  it('may be due on the end date, but not later', async () => {
    const ending = { ...weekly, end_date: at('2026-02-25T09:00:00Z') };
    assert.equal((await completed(ending, '2100-01-01T00:00:00Z')).length, 3);
    const earlier = { ...weekly, end_date: at('2026-02-25T08:59:59.999Z') };
    assert.equal((await completed(earlier, '2100-01-01T00:00:00Z')).length, 2);
  });

  it('is undefined if its date would be later than the dates that can be stored', async () => {
    for (const frequency of ['DAILY', 'WEEKLY', 'MONTHLY'] as const)
      for (const timezone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue']) {
        const rule: RecurrenceRule = { frequency, start_date: END_OF_TIME, timezone };
        assert.equal(nextOccurrence(rule, END_OF_TIME), undefined);
      }
  });

  it('is found even from the first date that can be stored', async () => {
    for (const frequency of ['DAILY', 'WEEKLY', 'MONTHLY'] as const)
      for (const timezone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue']) {
        const rule: RecurrenceRule = { frequency, start_date: at('0001-01-01T00:00:00Z'), timezone };
        const next = nextOccurrence(rule, at('9999-06-01T00:00:00Z'));
        assert.equal(next?.due.getUTCFullYear(), 9999);
      }
  });
});

describe('to-do on selected days', () => {
  const from = (anchor: string, rule: Omit<RecurrenceRule, 'start_date' | 'timezone'>, timezone = 'UTC') =>
    startingOnItsDay({ ...rule, start_date: at(anchor), timezone });

  for (const [what, rule, days] of [
    ['every second Monday', { frequency: 'WEEKLY', interval: 2, days: ['MO'] }, '2026-12-07 2026-12-21 2027-01-04'],
    ['every other day', { frequency: 'DAILY', interval: 2 }, '2026-12-01 2026-12-03 2026-12-05'],
    ['Friday and Monday', { frequency: 'WEEKLY', days: ['FR', 'MO'] }, '2026-12-04 2026-12-07 2026-12-11'],
    ['first Friday', { frequency: 'MONTHLY', days: ['1FR'] }, '2026-12-04 2027-01-01 2027-02-05'],
    ['last Friday', { frequency: 'MONTHLY', days: ['-1FR'] }, '2026-12-25 2027-01-29 2027-02-26'],
    ['last day', { frequency: 'MONTHLY', days: ['-1'] }, '2026-12-31 2027-01-31 2027-02-28'],
    ['day 30', { frequency: 'MONTHLY', days: ['30'] }, '2026-12-30 2027-01-30 2027-02-28'],
    ['1st and 15th', { frequency: 'MONTHLY', days: ['1', '15'] }, '2026-12-01 2026-12-15 2027-01-01'],
    ['last day of quarters', { frequency: 'MONTHLY', interval: 3, days: ['-1'] }, '2026-12-31 2027-03-31 2027-06-30'],
  ] as const)
    it(`is due on these days only: ${what}`, async () => {
      const found = await completed(from('2026-12-01T09:00:00Z', rule), '2028-01-01T00:00:00Z');
      assert.equal(
        found
          .slice(0, 3)
          .map(({ on }) => on)
          .join(' '),
        days,
      );
    });

  it('keeps the time of day of its start, even if its first day skips this time', () => {
    const rule = from('2026-03-25T02:30:00+01:00', { frequency: 'WEEKLY', days: ['SU'] }, 'Europe/Berlin');
    assert.equal(shown(firstOccurrence(rule)), '2026-03-29 2026-03-29T01:30:00.000Z');
    assert.equal(shown(nextOccurrence(rule, rule.start_date)), '2026-04-05 2026-04-05T00:30:00.000Z');
  });

  it('is refused if it ends before the first of its days', () => {
    const ending = { frequency: 'WEEKLY', days: ['SU'], end_date: at('2026-12-05T00:00:00Z') } as const;
    assert.throws(() => from('2026-12-01T09:00:00Z', ending), /before the first occurrence/);
  });
});
