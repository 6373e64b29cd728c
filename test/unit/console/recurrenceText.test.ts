import assert from 'node:assert/strict';
import { recurrenceText } from '../../../console/src/screens/todos/recurrenceText.ts';

const rule = {
  frequency: 'WEEKLY',
  start_date: new Date('2026-11-24T15:00:00Z'),
  timezone: 'Europe/Berlin',
  end_date: null,
} as const;

/** Time zone of the reader. */
const OWN = 'America/Chicago';

describe('description of a recurring to-do in words', () => {
  it('states the day and the hour in the time zone of the to-do', () => {
    assert.match(recurrenceText(rule, OWN), /^Every Tuesday at 4:00\sPM, Europe\/Berlin$/);
    const pacific = { ...rule, frequency: 'MONTHLY', timezone: 'Pacific/Kiritimati' } as const;
    assert.match(recurrenceText(pacific, OWN), /^Every month on day 25 at 5:00\sAM, Pacific\/Kiritimati$/);
  });

  it('states no time zone if it is that of the reader', () =>
    assert.match(recurrenceText(rule, rule.timezone), /^Every Tuesday at 4:00\sPM$/));

  const repetitions: [Partial<Parameters<typeof recurrenceText>[0]>, string][] = [
    [{ frequency: 'DAILY', interval: 2 }, 'Every 2 days at'],
    [{ interval: 3 }, 'Every 3 weeks on Tuesday at'],
    [{ days: ['MO', 'FR'] }, 'Every Monday, Friday at'],
    [{ days: ['MO', 'TU', 'WE', 'TH', 'FR'] }, 'Every weekday at'],
    [{ interval: 2, days: ['MO'] }, 'Every 2 weeks on Monday at'],
    [{ frequency: 'MONTHLY', days: ['1', '15'] }, 'Every month on day 1, day 15 at'],
    [{ frequency: 'MONTHLY', interval: 3, days: ['-1'] }, 'Every 3 months on the last day at'],
    [{ frequency: 'MONTHLY', days: ['2WE', '-1FR'] }, 'Every month on the second Wednesday, the last Friday at'],
  ];
  for (const [repeats, text] of repetitions)
    it(`states the interval and the days: ${text}`, () => {
      const said = recurrenceText({ ...rule, ...repeats }, OWN);
      assert.ok(said.startsWith(`${text} `), said);
    });

  it('states the last day in the time zone of the to-do, not in that of the reader', () => {
    const end_date = new Date('2026-12-31T09:59:59.999Z');
    assert.match(recurrenceText({ ...rule, timezone: 'Pacific/Kiritimati', end_date }, OWN), /until Thu, Dec 31/);
    assert.match(recurrenceText({ ...rule, timezone: 'America/Los_Angeles', end_date }, OWN), /until Thu, Dec 31/);
    assert.match(recurrenceText({ ...rule, timezone: 'Pacific/Pago_Pago', end_date }, OWN), /until Wed, Dec 30/);
  });

  it('uses UTC if the browser does not know the time zone', () =>
    assert.match(recurrenceText({ ...rule, timezone: 'America/Nowhere' }, OWN), /^Every Tuesday at 3:00\sPM, UTC$/));
});
