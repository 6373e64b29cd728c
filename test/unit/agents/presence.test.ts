import assert from 'node:assert/strict';
import { DatabasePresence, lastSeenIn } from '../../../functions/src/agents/store/presence.ts';

describe('DatabasePresence', () => {
  it('times out if the Realtime Database is unreachable, and sends nothing later', async () => {
    let attempts = 0;
    const lost = () => {
      attempts++;
      return new Promise<never>(() => {});
    };
    const presence = new DatabasePresence({ database: lost, clock: { now: () => new Date(0) } });
    await assert.rejects(presence.touch('agent-1'), /did not respond/);
    await assert.rejects(presence.touch('agent-1'), /not responded yet/);
    await assert.rejects(presence.touch('agent-2'), /not responded yet/);
    assert.equal(attempts, 1);
  });

  it('ignores stored times that are outside the range of a Date', () =>
    assert.deepEqual(
      [8.64e15, 8.65e15, -8.65e15].map((last_seen) => lastSeenIn({ last_seen })),
      [8.64e15, 0, 0],
    ));

  it('sends the next heartbeat even if the previous one failed', async () => {
    let attempts = 0;
    const failing = () => {
      attempts++;
      return Promise.reject(new Error('refused'));
    };
    const presence = new DatabasePresence({ database: failing, clock: { now: () => new Date(0) } });
    await assert.rejects(presence.touch('agent-1'), /refused/);
    await assert.rejects(presence.touch('agent-1'), /refused/);
    assert.equal(attempts, 2);
  });
});
