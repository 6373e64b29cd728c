/** Changes to the fields of a coding task when a runner returns the task to the queue. */
import assert from 'node:assert/strict';
import { endByDecision, endByRunner } from '../../../functions/src/toolsets/coding/rules/ending.ts';
import type { EndReport } from '../../../functions/src/toolsets/coding/rules/task.ts';
import {
  asCodingTask,
  type CodingTask,
  type PastAttempt,
} from '../../../functions/src/toolsets/coordination/rules/codingTask.ts';
import { claimTask } from '../../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import { START, sampleCodingTask, sampleCodingWork, secondsAfterStart } from '../../support/builders.ts';
import { refusal } from '../../support/refusal.ts';

const RETURN: EndReport = {
  status: 'failed',
  failure: { class: 'rate_limit', message: 'Limit reached', returnAfterSeconds: 30 },
};

const PAST: readonly PastAttempt[] = [1, 2].map((epoch) => ({
  claim_epoch: epoch,
  agent_id: 'ann',
  ended_at: START,
  failure: { class: 'crashed', message: `It crashed: ${epoch}` },
  commits: [],
}));

const claimed = (from: CodingTask, at = START): CodingTask => asCodingTask(claimTask(from, 'ann', 60, at));
const claimant = ({ claim_epoch: epoch }: CodingTask) => ({ agent_id: 'ann', claim_epoch: epoch });

describe('coding task that its runner returns to the queue', () => {
  it('is available again after the requested delay, and keeps its retries', () => {
    const before = claimed(sampleCodingTask({ retries: 2, coding: sampleCodingWork({ attempts: PAST }) }));
    const { task, outcome } = endByRunner(before, claimant(before), RETURN, secondsAfterStart(10));
    assert.equal(outcome, 'returned');
    assert.equal(task.status, 'available');
    assert.equal(task.claim, undefined);
    assert.deepEqual([task.retries, task.blockers], [2, 1]);
    assert.deepEqual(task.retry_at, secondsAfterStart(40));
    assert.deepEqual(task.coding.attempts, PAST);
    assert.deepEqual(task.coding.failure, { class: 'rate_limit', message: 'Limit reached' });
  });

  it('is available immediately if the requested delay is 0', () => {
    const before = claimed(sampleCodingTask());
    const report: EndReport = {
      status: 'failed',
      failure: { class: 'crashed', message: 'Not yet', returnAfterSeconds: 0 },
    };
    const { task } = endByRunner(before, claimant(before), report, START);
    assert.deepEqual([task.status, task.blockers, task.retry_at], ['available', 0, undefined]);
  });

  it('keeps its attempts and its queue deadline even after 1,000 returns', () => {
    let task = sampleCodingTask({ coding: sampleCodingWork({ attempts: PAST }) });
    const size = JSON.stringify(task).length;
    for (let round = 0; round < 1000; round++) {
      const held = claimed({ ...task, blockers: 0 });
      ({ task } = endByRunner(held, claimant(held), RETURN, START));
    }
    assert.deepEqual(task.coding.queue_ends_at, sampleCodingWork().queue_ends_at);
    assert.deepEqual(task.coding.attempts, PAST);
    assert.equal(task.claim_epoch - task.coding.returns, 0);
    assert.ok(JSON.stringify(task).length < size + 500);
  });

  it('gets a queue deadline that is later by the time for which the runner held it', () => {
    const before = claimed(sampleCodingTask(), secondsAfterStart(100));
    const { task } = endByRunner(before, claimant(before), RETURN, secondsAfterStart(700));
    assert.deepEqual(task.coding.queue_ends_at, secondsAfterStart(3600 + 600));
  });

  it('records the token usage that the runner reports', () => {
    const before = claimed(sampleCodingTask());
    const report = { ...RETURN, result: { tokens: { input: 10, output: 5, cacheRead: 2 } } };
    const { task } = endByRunner(before, claimant(before), report, START);
    assert.deepEqual([task.spent?.input_tokens, task.spent?.output_tokens], [12, 5]);
  });

  /** Returns a task after its runner's lease expired. The expired lease has used up one attempt. */
  function lapsedTask(): CodingTask {
    const { claim: _, ...lost } = claimed(sampleCodingTask());
    return asCodingTask({
      ...lost,
      status: 'available',
      retries: 1,
      lapsed_claims: [{ agent_id: 'ann', claim_epoch: 1 }],
      coding: sampleCodingWork({ attempts: PAST.slice(0, 1) }),
    });
  }

  it('uses up only one attempt if its runner reports a failure after the lease expired', () => {
    const expired = lapsedTask();
    const report: EndReport = { status: 'failed', failure: { class: 'crashed', message: 'It crashed.' } };
    const { task, outcome } = endByRunner(expired, claimant(expired), report, secondsAfterStart(200));
    assert.equal(outcome, 'retried');
    assert.equal(task.retries, 1);
    const rows = task.coding.attempts.map(({ claim_epoch: epoch, failure }) => [epoch, failure.message]);
    assert.deepEqual(rows, [[1, 'It crashed.']]);
  });

  it('gets its used attempt back if no other runner claimed it after the lease expired', () => {
    const expired = lapsedTask();
    const { task, outcome } = endByRunner(expired, claimant(expired), RETURN, secondsAfterStart(200));
    assert.equal(outcome, 'returned');
    assert.deepEqual([task.retries, task.coding.attempts, task.lapsed_claims], [0, [], []]);
  });

  it('remains claimed by another runner that claimed it before the report arrived', () => {
    const { claim: _, ...lost } = claimed(sampleCodingTask());
    const lapsedClaims = [{ agent_id: 'ann', claim_epoch: 1 }];
    const next = asCodingTask(
      claimTask({ ...lost, status: 'available', lapsed_claims: lapsedClaims }, 'bob', 60, START),
    );
    const { task, outcome } = endByRunner(next, { agent_id: 'ann', claim_epoch: 1 }, RETURN, START);
    assert.equal(outcome, 'late');
    assert.equal(task.claim?.claimed_by, 'bob');
    assert.equal(task.coding.returns, 0);
  });

  it('cannot be returned by a caller that does not hold it', async () => {
    const task = claimed(sampleCodingTask());
    const by = await refusal(() => endByDecision(task, RETURN, { kind: 'person', uid: 'lead' }, START));
    assert.deepEqual([by.code, by.details.reason], ['CONFLICT', 'NOT_HOLDER']);
    const other = await refusal(() => endByRunner(task, { agent_id: 'bob', claim_epoch: 1 }, RETURN, START));
    assert.equal(other.code, 'CONFLICT');
  });

  it('cannot be returned if the same report states a final outcome', async () => {
    const task = claimed(sampleCodingTask());
    const failure = { class: 'crashed', message: 'x', retryable: false, returnAfterSeconds: 0 } as const;
    const error = await refusal(() => endByRunner(task, claimant(task), { status: 'failed', failure }, START));
    assert.equal(error.code, 'VALIDATION_ERROR');
  });
});
