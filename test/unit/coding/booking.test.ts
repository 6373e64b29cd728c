/** Tokens that a runner reports, as the hub books them on the task. */
import assert from 'node:assert/strict';
import { endByRunner } from '../../../functions/src/toolsets/coding/rules/ending.ts';
import { START, sampleCodingTask, secondsAfterStart } from '../../support/builders.ts';

const CLAIMANT = { agentId: 'runner', epoch: 1 };

function bookedFor(result: unknown) {
  const claim = { ...CLAIMANT, claimedAt: START, leaseSeconds: 120, leaseExpiresAt: secondsAfterStart(120) };
  const task = sampleCodingTask({ status: 'in_progress', epoch: 1, claim });
  return endByRunner(task, CLAIMANT, { status: 'completed', result }, START).task.spent;
}

describe('the booking of a coding attempt', () => {
  it('counts all input: sent, read from a cache and written to a cache', () => {
    const spent = bookedFor({ tokens: { input: 12, output: 1, cacheRead: 7, cacheWrite: 60_000 } });
    assert.equal(spent?.inputTokens, 60_019);
    assert.equal(spent?.outputTokens, 1);
  });

  it('reads results of older runners, which do not report writes to a cache', () => {
    assert.equal(bookedFor({ tokens: { input: 12, output: 1, cacheRead: 7 } })?.inputTokens, 19);
    assert.equal(bookedFor({ tokens: { input: 12 } })?.inputTokens, 12);
    assert.equal(bookedFor({ summary: 'Done.' }), undefined);
  });
});
