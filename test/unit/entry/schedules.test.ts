import assert from 'node:assert/strict';
import { sendReminders, sweep } from '../../../functions/src/entry/events.ts';

describe('scheduled function', () => {
  for (const [name, { __endpoint }] of Object.entries({ sweep, sendReminders })) {
    it(`has time to finish a backlog: ${name}`, () => {
      assert.equal(__endpoint.timeoutSeconds, 540);
    });
  }
});
