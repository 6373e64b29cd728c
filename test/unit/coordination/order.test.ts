import assert from 'node:assert/strict';
import { compareInQueue } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleTask, secondsAfterStart } from '../../support/builders.ts';

describe('order of the task queue', () => {
  it('is by priority, deadline, time of creation and id; tasks without a deadline come last', () => {
    const due = (seconds: number) => ({ deadline: secondsAfterStart(seconds) });
    const ordered = [
      { id: 'a', priority: 1 },
      { id: 'b', ...due(60), created_at: secondsAfterStart(9) },
      { id: 'c', ...due(90) },
      { id: 'd', ...due(90), createdAt: secondsAfterStart(1) },
      { id: 'f' },
      { id: 'g' },
      { id: 'e', created_at: secondsAfterStart(1) },
      { id: 'h', priority: 6, ...due(1) },
    ].map((changes) => sampleTask(changes));
    for (const [place, one] of ordered.entries())
      for (const [otherPlace, other] of ordered.entries())
        assert.equal(Math.sign(compareInQueue(one, other)), Math.sign(place - otherPlace), `${one.id} ${other.id}`);
  });
});
