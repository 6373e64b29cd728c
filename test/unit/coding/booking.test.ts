/** Token usage that a runner reports and that is recorded on the coding task. */
import assert from 'node:assert/strict';
import { endByRunner } from '../../../functions/src/toolsets/coding/rules/ending.ts';
import { START, sampleCodingTask, secondsAfterStart } from '../../support/builders.ts';

const CLAIMANT = { agent_id: 'runner', claim_epoch: 1 };

function bookedFor(result: unknown) {
  const claim = {
    claimed_by: CLAIMANT.agent_id,
    claim_epoch: CLAIMANT.claim_epoch,
    claimed_at: START,
    lease_seconds: 120,
    lease_expires_at: secondsAfterStart(120),
  };
  const task = sampleCodingTask({ status: 'in_progress', claim_epoch: 1, claim });
  return endByRunner(task, CLAIMANT, { status: 'completed', result }, START).task.spent;
}

describe('recorded usage of a coding attempt', () => {
  it('counts all input tokens: sent, read from a cache and written to a cache', () => {
    const spent = bookedFor({ tokens: { input: 12, output: 1, cacheRead: 7, cacheWrite: 60_000 } });
    assert.equal(spent?.input_tokens, 60_019);
    assert.equal(spent?.output_tokens, 1);
  });

  it('accepts reports of older runners, which contain no cache writes', () => {
    assert.equal(bookedFor({ tokens: { input: 12, output: 1, cacheRead: 7 } })?.input_tokens, 19);
    assert.equal(bookedFor({ tokens: { input: 12 } })?.input_tokens, 12);
    assert.equal(bookedFor({ summary: 'Done.' }), undefined);
  });
});
