import assert from 'node:assert/strict';
import { sendReminders, sweep } from '../../../functions/src/entry/events.ts';

describe('what is scheduled', () => {
  for (const [name, { __endpoint }] of Object.entries({ sweep, sendReminders })) {
    it(`has time to finish what a busy minute left: ${name}`, () => {
      assert.equal(__endpoint.timeoutSeconds, 540);
    });
  }
});
