import assert from 'node:assert/strict';
import { recurrenceText } from '../../../console/src/screens/todos/recurrenceText.ts';

const rule = {
  frequency: 'WEEKLY',
  start_date: new Date('2026-11-24T15:00:00Z'),
  timezone: 'Europe/Berlin',
  end_date: null,
  latest_due: new Date('2026-11-24T15:00:00Z'),
} as const;

describe('description of a recurring to-do in words', () => {
  it('states the day and the hour in the time zone of the to-do', () => {
    assert.match(recurrenceText(rule), /every Tuesday at 4:00\sPM, Europe\/Berlin/);
    const pacific = { ...rule, frequency: 'MONTHLY', timezone: 'Pacific/Kiritimati' } as const;
    assert.match(recurrenceText(pacific), /every month on day 25 at 5:00\sAM, Pacific\/Kiritimati/);
  });

  it('states the last day in the time zone of the to-do, not in that of the reader', () => {
    const end_date = new Date('2026-12-31T09:59:59.999Z');
    assert.match(recurrenceText({ ...rule, timezone: 'Pacific/Kiritimati', end_date }), /until Thu, Dec 31/);
    assert.match(recurrenceText({ ...rule, timezone: 'America/Los_Angeles', end_date }), /until Thu, Dec 31/);
    assert.match(recurrenceText({ ...rule, timezone: 'Pacific/Pago_Pago', end_date }), /until Wed, Dec 30/);
  });

  it('uses UTC if the browser does not know the time zone', () =>
    assert.match(recurrenceText({ ...rule, timezone: 'America/Nowhere' }), /every Tuesday at 3:00\sPM, UTC;/));
});
