import assert from 'node:assert/strict';
import { markedOffline, markedSeen, withHeldTask } from '../../../functions/src/agents/rules/agent.ts';
import { availability, withPresence } from '../../../functions/src/agents/rules/liveness.ts';
import { START, sampleAgent, secondsAfterStart } from '../../support/builders.ts';

const HAND = { session: 'session-1', claim_epoch: 1 };

describe('availability of an agent', () => {
  const configuration = { ...sampleAgent().configuration, max_concurrent_tasks: 2 };

  it('depends on the tasks that the agent holds and on the outcome of its last task', () => {
    const agent = sampleAgent({ configuration });
    assert.equal(availability(agent), 'idle');
    assert.equal(availability({ ...agent, last_failed: true }), 'error');
    assert.equal(availability({ ...agent, last_failed: true, held: { a: HAND } }), 'active');
    assert.equal(availability({ ...agent, held: { a: HAND, b: HAND } }), 'busy');
    assert.equal(availability({ ...agent, held: { a: HAND, b: HAND, c: HAND } }), 'busy');
    assert.equal(availability({ ...agent, status: 'offline', held: { a: HAND } }), 'offline');
  });

  it('changes to offline after three missed heartbeats', () => {
    const status = (seconds: number) => availability(withPresence(sampleAgent(), START, secondsAfterStart(seconds)));
    assert.deepEqual([status(180), status(181)], ['idle', 'offline']);
    assert.equal(availability(withPresence(sampleAgent(), undefined, secondsAfterStart(999))), 'idle');
  });
});

describe('recorded milestones of an agent', () => {
  it('keep the time at which each milestone was first reached', () => {
    const first = withHeldTask(sampleAgent({ status: 'offline' }), 'a', HAND, secondsAfterStart(1));
    assert.deepEqual(first.milestones, { seen: secondsAfterStart(1), claimed: secondsAfterStart(1) });
    assert.deepEqual([first.status, first.active_since, first.held], ['active', secondsAfterStart(1), { a: HAND }]);
    const completed = { ...first, held: {}, last_completed_at: secondsAfterStart(2) };
    const second = withHeldTask(completed, 'b', HAND, secondsAfterStart(3));
    const third = withHeldTask({ ...second, last_completed_at: secondsAfterStart(4) }, 'c', HAND, secondsAfterStart(5));
    assert.deepEqual(third.milestones, {
      seen: secondsAfterStart(1),
      claimed: secondsAfterStart(1),
      completed: secondsAfterStart(2),
    });
    assert.equal(third.active_since, first.active_since);
  });

  it('are kept when the agent goes offline, but the start of its activity is cleared', () => {
    const missing = markedOffline(markedSeen(sampleAgent(), START), secondsAfterStart(5));
    assert.deepEqual(
      [missing.status, missing.active_since, missing.last_seen],
      ['offline', undefined, secondsAfterStart(5)],
    );
    assert.deepEqual(markedSeen(missing, secondsAfterStart(9)).active_since, secondsAfterStart(9));
    assert.deepEqual(markedSeen(missing, secondsAfterStart(9)).milestones.seen, START);
  });
});
