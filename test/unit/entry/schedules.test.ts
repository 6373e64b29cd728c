import assert from 'node:assert/strict';
import { sendReminders } from '../../../functions/src/entry/schedules/sendReminders.ts';
import { sweep } from '../../../functions/src/entry/schedules/sweep.ts';

describe('what is scheduled', () => {
  for (const [name, { __endpoint }] of Object.entries({ sweep, sendReminders })) {
    it(`has time to finish what a busy minute left: ${name}`, () => {
      assert.equal(__endpoint.timeoutSeconds, 540);
    });
  }
});
