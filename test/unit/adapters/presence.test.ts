import assert from 'node:assert/strict';
import { DatabasePresence } from '../../../functions/src/adapters/database/presence.ts';

describe('DatabasePresence', () => {
  it('does not wait for ever for a database that is lost, and tries again', async () => {
    let attempts = 0;
    const lost = () => {
      attempts++;
      return new Promise<never>(() => {});
    };
    const presence = new DatabasePresence(lost, { now: () => new Date(0) });
    await assert.rejects(presence.touch('agent-1'), /did not answer/);
    await assert.rejects(presence.touch('agent-1'), /did not answer/);
    assert.equal(attempts, 2);
  });
});
