import assert from 'node:assert/strict';
import { sendReminders, sweep } from '../../../functions/src/entry/events.ts';

describe('timeout of a scheduled function', () => {
  for (const [name, { __endpoint }] of Object.entries({ sweep, sendReminders }))
    it(`is long enough to finish work that is overdue: ${name}`, () => assert.equal(__endpoint.timeoutSeconds, 540));
});
