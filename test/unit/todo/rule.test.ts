import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { nextOccurrence } from '../../../functions/src/toolsets/todo/rules/recurring/occurrences.ts';
import {
  type RequestedRule,
  recurrenceRule,
} from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { latestOccurrence } from '../../../functions/src/toolsets/todo/rules/recurring/recurringTasks.ts';
import { sampleRecurringTask } from '../../support/builders.ts';

const anchor = new Date('2026-02-11T09:00:00Z');
const daily: RequestedRule = { frequency: 'DAILY', start_date: anchor };

function refusal(requested: RequestedRule): unknown {
  try {
    recurrenceRule(requested);
  } catch (error) {
    assert.ok(error instanceof MusterError);
    const { field, reason } = error.details;
    return { code: error.code, field, reason };
  }
  return undefined;
}

describe('recurrence rule', () => {
  it('has the time zone UTC and no end by default', () =>
    assert.deepEqual(recurrenceRule(daily), { frequency: 'DAILY', start_date: anchor, timezone: 'UTC' }));

  it('keeps the time zone and the end that are set', () => {
    const endDate = new Date('2026-03-11T09:00:00Z');
    const rule = recurrenceRule({ ...daily, timezone: 'Europe/Berlin', end_date: endDate });
    assert.deepEqual(rule, { frequency: 'DAILY', start_date: anchor, timezone: 'Europe/Berlin', end_date: endDate });
  });

  it('accepts an interval, and days that suit the frequency, each once', () => {
    const weekly = recurrenceRule({ ...daily, frequency: 'WEEKLY', interval: 2, days: ['MO', 'FR', 'MO'] });
    assert.deepEqual([weekly.interval, weekly.days], [2, ['MO', 'FR']]);
    const plain = recurrenceRule({ ...daily, interval: 1, days: [] });
    assert.deepEqual(plain, { frequency: 'DAILY', start_date: anchor, timezone: 'UTC' });
    for (const days of [['1FR'], ['-1SU', '2MO'], ['15', '1'], ['31'], ['-1', '15']])
      assert.deepEqual(recurrenceRule({ ...daily, frequency: 'MONTHLY', days }).days, days);
  });

  for (const [frequency, ...days] of [
    ['DAILY', 'MO'],
    ['WEEKLY', '1MO'],
    ['WEEKLY', 'mo'],
    ['MONTHLY', 'MO'],
    ['MONTHLY', '5FR'],
    ['MONTHLY', '32'],
    ['MONTHLY', '0'],
    ['MONTHLY', '15', '31'],
    ['MONTHLY', '1', '1MO'],
  ] as const)
    it(`is rejected with the days ${days.join()} and the frequency ${frequency}`, () => {
      const error = { code: 'VALIDATION_ERROR', field: 'days', reason: 'INVALID_DAYS' };
      assert.deepEqual(refusal({ ...daily, frequency, days }), error);
    });

  it('may end on the date of its first occurrence, but not earlier', () => {
    assert.equal(refusal({ ...daily, end_date: anchor }), undefined);
    assert.deepEqual(refusal({ ...daily, end_date: new Date(anchor.getTime() - 1) }), {
      code: 'VALIDATION_ERROR',
      field: 'end_date',
      reason: 'END_BEFORE_START',
    });
  });

  for (const frequency of ['YEARLY', 'daily', '', 'toString'])
    it(`is rejected with the frequency "${frequency}"`, () =>
      assert.deepEqual(refusal({ ...daily, frequency }), {
        code: 'VALIDATION_ERROR',
        field: 'frequency',
        reason: 'INVALID_FREQUENCY',
      }));

  for (const timezone of [
    'Mars/Phobos',
    '',
    '+02:00',
    '-0300',
    'Europe/Berlin ',
    'IST',
    'pst',
    'UTC\0',
    '../etc/passwd',
  ])
    it(`is rejected with the time zone ${JSON.stringify(timezone)}`, () =>
      assert.deepEqual(refusal({ ...daily, timezone }), {
        code: 'VALIDATION_ERROR',
        field: 'timezone',
        reason: 'INVALID_TIMEZONE',
      }));

  it('is accepted with every known time zone, in upper or lower case', () => {
    const zones = [...Intl.supportedValuesOf('timeZone'), 'US/Pacific', 'Etc/GMT+5', 'EST5EDT', 'GMT0', 'Zulu'];
    for (const timezone of zones.flatMap((zone) => [zone, zone.toLowerCase()])) {
      const rule = recurrenceRule({ ...daily, timezone });
      assert.equal(rule.timezone, timezone);
      assert.notEqual(nextOccurrence(rule, anchor), undefined);
    }
  });

  it('is accepted with a three-letter time zone only if its occurrences can be computed', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const names = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three)));
    const taken = names.filter((timezone) => refusal({ ...daily, timezone }) === undefined);
    assert.equal(taken.length, 13);
    for (const timezone of taken) assert.ok(nextOccurrence(recurrenceRule({ ...daily, timezone }), anchor));
  });

  for (const bad of [new Date(Number.NaN), new Date(8.64e15), new Date('0000-06-01T00:00:00Z')])
    it(`is rejected with a date that cannot be stored: ${bad.getTime()}`, () => {
      const code = 'VALIDATION_ERROR';
      const reason = 'INVALID_DATE';
      assert.deepEqual(refusal({ ...daily, start_date: bad }), { code, field: 'start_date', reason });
      assert.deepEqual(refusal({ ...daily, end_date: bad }), { code, field: 'end_date', reason });
    });
});

describe('id of an occurrence of a recurring to-do', () => {
  it('depends only on the recurring task and the date', () => {
    const recurring = sampleRecurringTask({ id: 'abc', latest_on: '2026-02-28' });
    assert.equal(latestOccurrence(recurring, anchor).id, 'abc_2026-02-28');
  });
});
