import assert from 'node:assert/strict';
import {
  cancelTask,
  claimTask,
  endBackoff,
  releaseTask,
  reportOutcome,
} from '../../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import type { ReportedOutcome, Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { START, sampleTask, secondsAfterStart } from '../../support/builders.ts';
import { refusal } from '../../support/refusal.ts';

const done: ReportedOutcome = { kind: 'done', result: { output: 'Made it' } };
const failed: ReportedOutcome = { kind: 'failed', error: 'It broke', retryable: false };
const failedForNow: ReportedOutcome = { kind: 'failed', error: 'It broke', retryable: true };
const later = secondsAfterStart(500);
const claimedBy = (agentId: string, from: Task = sampleTask()): Task => claimTask(from, agentId, 60, START);
const expired = (): Task => releaseTask(claimedBy('ann'));

describe("late report of a task's previous holder", () => {
  it('is accepted if no other agent has claimed the task after the lease expired', () => {
    const { kind, task } = reportOutcome(expired(), { agent_id: 'ann' }, done, later);
    assert.deepEqual([kind, task.status, task.claim_epoch], ['accepted', 'done', 1]);
    assert.deepEqual([task.claim?.claimed_by, task.claim?.claim_epoch], ['ann', 1]);
    assert.equal(reportOutcome(task, { agent_id: 'ann' }, done, later).kind, 'repeated');
  });

  it('may state a final failure, or a failure after which the task is retried', () => {
    assert.equal(reportOutcome(expired(), { agent_id: 'ann', claim_epoch: 1 }, failed, later).task.status, 'failed');
    const { kind, task } = reportOutcome(expired(), { agent_id: 'ann' }, failedForNow, later);
    assert.deepEqual([kind, task.status, task.retries, task.blockers], ['accepted', 'available', 1, 1]);
  });

  it('is accepted only once, because the task then waits for its retry', async () => {
    const { task } = reportOutcome(expired(), { agent_id: 'ann' }, failedForNow, later);
    await refusal(() => reportOutcome(task, { agent_id: 'ann' }, done, later));
  });

  it('is stored separately if another agent has claimed the task', () => {
    const { kind, task } = reportOutcome(claimedBy('bob', expired()), { agent_id: 'ann' }, done, later);
    assert.equal(kind, 'late');
    assert.deepEqual([task.status, task.claim?.claimed_by, task.result], ['claimed', 'bob', undefined]);
    assert.deepEqual(task.late_result, {
      agent_id: 'ann',
      claim_epoch: 1,
      received_at: later,
      result: { output: 'Made it' },
    });
  });

  it('is stored separately if the task is closed, and does not change the task', () => {
    const closed = reportOutcome(claimedBy('bob', expired()), { agent_id: 'bob' }, done, START).task;
    const { kind, task } = reportOutcome(closed, { agent_id: 'ann' }, failed, later);
    assert.equal(kind, 'late');
    assert.deepEqual({ ...task, late_result: undefined }, { ...closed, late_result: undefined });
    assert.equal(task.late_result?.error, 'It broke');
  });

  it('is stored separately if the task was cancelled after the lease expired', () => {
    const cancelled = cancelTask(expired(), 'Not needed', START);
    const { kind, task } = reportOutcome(cancelled, { agent_id: 'ann' }, done, later);
    assert.deepEqual([kind, task.status, task.result], ['late', 'cancelled', undefined]);
  });

  it('of a retryable failure does not leave a task blocked that is cancelled before its retry', () => {
    const waiting = reportOutcome(expired(), { agent_id: 'ann' }, failedForNow, START).task;
    assert.equal(waiting.blockers, 1);
    const { retry_at, blockers } = cancelTask(waiting, 'Not needed', later);
    assert.deepEqual([retry_at, blockers], [undefined, 0]);
  });

  it('is stored separately if the next holder has reported a retryable failure', () => {
    const waiting = reportOutcome(claimedBy('bob', expired()), { agent_id: 'bob' }, failedForNow, START).task;
    for (const task of [waiting, endBackoff(waiting), claimedBy('cleo', endBackoff(waiting))]) {
      const taskOutcome = reportOutcome(task, { agent_id: 'ann' }, done, later);
      assert.equal(taskOutcome.kind, 'late');
      assert.equal(taskOutcome.task.status, task.status);
    }
  });

  it('is stored separately if the lease of the next holder has also expired', () => {
    const task = releaseTask(claimedBy('bob', expired()));
    assert.equal(reportOutcome(task, { agent_id: 'ann' }, done, later).kind, 'late');
    assert.equal(reportOutcome(task, { agent_id: 'bob' }, done, later).kind, 'accepted');
  });

  it('with an old claim epoch does not complete the task if the agent has claimed it again', () => {
    const again = claimedBy('ann', expired());
    const old = reportOutcome(again, { agent_id: 'ann', claim_epoch: 1 }, done, later);
    assert.deepEqual([old.kind, old.task.status], ['late', 'claimed']);
    assert.equal(reportOutcome(again, { agent_id: 'ann' }, done, later).kind, 'accepted');
  });

  it('is rejected if the agent never had a claim with the reported claim epoch', async () => {
    const error = await refusal(() => reportOutcome(expired(), { agent_id: 'ann', claim_epoch: 7 }, done, later));
    assert.equal(error.code, 'CONFLICT');
    await refusal(() => reportOutcome(expired(), { agent_id: 'bob' }, done, later));
  });
});
