/** Transitions that the state machine of a task allows or rejects. */
import assert from 'node:assert/strict';
import {
  claimTask,
  endBackoff,
  MAX_TASK_RETRIES,
  releaseTask,
  renewLease,
  reportOutcome,
  startTask,
} from '../../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import {
  type ReportedOutcome,
  TASK_STATUSES,
  type Task,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { START, sampleTask, secondsAfterStart } from '../../support/builders.ts';
import { refusal } from '../../support/refusal.ts';

const done: ReportedOutcome = { kind: 'done', result: { output: 'Made it', files_created: ['a.ts'] } };
const failed: ReportedOutcome = { kind: 'failed', error: 'It broke', retryable: false };
const failedForNow: ReportedOutcome = { kind: 'failed', error: 'It broke', retryable: true };
const claimed = (by = 'ann', from = sampleTask()) => claimTask(from, by, 60, START);
const started = (by = 'ann') => startTask(claimed(by), { agent_id: by }, secondsAfterStart(10));
const inState = (status: Task['status']): Task => ({ ...claimed(), status });

describe('claimTask', () => {
  it('assigns the task to the agent, with a new claim epoch and a lease', () => {
    const task = claimTask(sampleTask({ claim_epoch: 3 }), 'ann', 60, START);
    assert.equal(task.status, 'claimed');
    assert.equal(task.claim_epoch, 4);
    assert.deepEqual(task.claim, {
      claimed_by: 'ann',
      claim_epoch: 4,
      claimed_at: START,
      lease_seconds: 60,
      lease_expires_at: secondsAfterStart(60),
    });
  });

  for (const status of TASK_STATUSES.filter((one) => one !== 'available'))
    it(`rejects a task that is ${status}, with its state and its holder`, async () => {
      const error = await refusal(() => claimTask(inState(status), 'bob', 60, START));
      assert.equal(error.code, 'CONFLICT');
      assert.match(error.message, new RegExp(`"task-1" cannot be claimed: it is ${status}, held by "ann"`));
    });

  it('rejects a task with an open dependency', async () => {
    const error = await refusal(() => claimTask(sampleTask({ blockers: 1 }), 'bob', 60, START));
    assert.match(error.message, /it is available but blocked/);
  });
});

describe('startTask', () => {
  it('starts a task of the holder and renews the lease', () => {
    const task = started();
    assert.equal(task.status, 'in_progress');
    assert.deepEqual(task.claim?.started_at, secondsAfterStart(10));
    assert.deepEqual(task.claim?.lease_expires_at, secondsAfterStart(70));
    assert.equal(task.claim_epoch, 1);
  });

  it('rejects an agent that does not hold the task, and names the holder', async () => {
    const error = await refusal(() => startTask(claimed(), { agent_id: 'bob' }, START));
    assert.match(error.message, /cannot be started: it is claimed, held by "ann"/);
    assert.equal(error.details.reason, 'NOT_HOLDER');
  });

  it('rejects an older claim epoch of the same holder', async () => {
    const again = claimTask(releaseTask(claimed()), 'ann', 60, START);
    const error = await refusal(() => startTask(again, { agent_id: 'ann', claim_epoch: 1 }, START));
    assert.match(error.message, /it is claimed, held by you/);
    assert.match(error.details.suggestion ?? '', /the value that coordination.claim_task returned/);
  });

  it('changes nothing if the holder starts the task again under the same claim', async () => {
    const task = started();
    for (const claimant of [{ agent_id: 'ann' }, { agent_id: 'ann', claim_epoch: 1 }])
      assert.equal(startTask(task, claimant, secondsAfterStart(20)), task);
    for (const claimant of [{ agent_id: 'bob' }, { agent_id: 'ann', claim_epoch: 2 }])
      assert.equal((await refusal(() => startTask(task, claimant, START))).code, 'CONFLICT');
  });

  for (const status of TASK_STATUSES.filter((one) => one !== 'claimed' && one !== 'in_progress'))
    it(`rejects a task that is ${status}`, async () => {
      const task = status === 'available' ? sampleTask() : inState(status);
      const error = await refusal(() => startTask(task, { agent_id: 'ann' }, START));
      assert.match(error.message, new RegExp(`cannot be started: it is ${status}`));
      assert.equal(error.details.reason, 'WRONG_STATE');
    });
});

describe('reportOutcome', () => {
  for (const [name, task] of [
    ['claimed', claimed()],
    ['in progress', started()],
  ] as const) {
    it(`completes a task that is ${name}`, () => {
      const taskOutcome = reportOutcome(task, { agent_id: 'ann', claim_epoch: 1 }, done, secondsAfterStart(20));
      assert.equal(taskOutcome.kind, 'accepted');
      assert.equal(taskOutcome.task.status, 'done');
      assert.deepEqual(taskOutcome.task.result, { output: 'Made it', files_created: ['a.ts'] });
      assert.deepEqual(taskOutcome.task.completed_at, secondsAfterStart(20));
      assert.equal(taskOutcome.task.claim?.claimed_by, 'ann');
    });

    it(`fails a task that is ${name}`, () => {
      const { kind, task: after } = reportOutcome(task, { agent_id: 'ann' }, failed, START);
      assert.deepEqual([kind, after.status, after.error], ['accepted', 'failed', 'It broke']);
    });
  }

  it('rejects an agent that does not hold the task, and names the state and the holder', async () => {
    for (const [outcome, verb] of [
      [done, 'completed'],
      [failed, 'failed'],
    ] as const) {
      const error = await refusal(() => reportOutcome(started(), { agent_id: 'bob' }, outcome, START));
      assert.match(error.message, new RegExp(`cannot be ${verb}: it is in_progress, held by "ann"`));
    }
  });

  it('rejects a report about a task that no agent has claimed', async () => {
    const error = await refusal(() => reportOutcome(sampleTask(), { agent_id: 'ann' }, done, START));
    assert.match(error.message, /it is available/);
    assert.match(error.details.suggestion ?? '', /claim_task/);
  });

  it('accepts a repeated report of the same outcome by the same holder, and no other report', async () => {
    const { task } = reportOutcome(started(), { agent_id: 'ann' }, done, START);
    assert.deepEqual(reportOutcome(task, { agent_id: 'ann' }, done, secondsAfterStart(99)), { kind: 'repeated', task });
    const other: ReportedOutcome = { kind: 'done', result: { output: 'Made it twice' } };
    for (const outcome of [failed, other]) {
      const error = await refusal(() => reportOutcome(task, { agent_id: 'ann' }, outcome, START));
      assert.match(error.message, /it is done, held by you/);
    }
    await refusal(() => reportOutcome(task, { agent_id: 'bob' }, done, START));
    await refusal(() => reportOutcome(task, { agent_id: 'ann', claim_epoch: 2 }, done, START));
  });

  it('accepts a repeated report of the same failure', () => {
    const { task } = reportOutcome(started(), { agent_id: 'ann' }, failed, START);
    assert.equal(reportOutcome(task, { agent_id: 'ann' }, failed, START).kind, 'repeated');
  });
});

describe('retryable failure of a task', () => {
  it('requeues the task after a wait that doubles each time, until no retries are left', () => {
    let task = sampleTask();
    for (let retry = 0; retry < MAX_TASK_RETRIES; retry++) {
      task = reportOutcome(claimed('ann', task), { agent_id: 'ann' }, failedForNow, START).task;
      assert.deepEqual([task.status, task.retries, task.blockers], ['available', retry + 1, 1]);
      assert.deepEqual(task.retry_at, secondsAfterStart(30 * 2 ** retry));
      assert.equal(task.claim, undefined);
      task = endBackoff(task);
      assert.deepEqual([task.blockers, task.retry_at], [0, undefined]);
    }
    task = reportOutcome(claimed('ann', task), { agent_id: 'ann' }, failedForNow, START).task;
    assert.deepEqual([task.status, task.error, task.claim_epoch], ['failed', 'It broke', MAX_TASK_RETRIES + 1]);
  });

  it('leaves no error on the task after a later attempt has completed the task', () => {
    const waiting = reportOutcome(claimed(), { agent_id: 'ann' }, failedForNow, START).task;
    assert.equal(waiting.error, 'It broke');
    const after = reportOutcome(claimed('bob', endBackoff(waiting)), { agent_id: 'bob' }, done, START).task;
    assert.deepEqual([after.status, after.error], ['done', undefined]);
  });

  it('allows no retry of a task that is not waiting for one', async () => {
    for (const task of [sampleTask(), claimed()])
      assert.match((await refusal(() => endBackoff(task))).message, /cannot be retried/);
  });
});

describe('lease of a task', () => {
  it('is released so that the task returns to the queue, and the holder is recorded', () => {
    const task = releaseTask(started());
    assert.deepEqual([task.status, task.claim, task.claim_epoch], ['available', undefined, 1]);
    assert.deepEqual(task.lapsed_claims, [{ agent_id: 'ann', claim_epoch: 1 }]);
  });

  it('leaves a record of its holder, and a task keeps at most the last 20 such records', () => {
    let task = sampleTask();
    for (let count = 0; count < 25; count++) task = releaseTask(claimed(`agent-${count}`, task));
    assert.equal(task.lapsed_claims.length, 20);
    assert.deepEqual(task.lapsed_claims.at(-1), { agent_id: 'agent-24', claim_epoch: 25 });
  });

  it('is renewed from the time at which the holder was last seen', () =>
    assert.deepEqual(renewLease(claimed(), secondsAfterStart(50)).claim?.lease_expires_at, secondsAfterStart(110)));

  it('cannot be released or renewed if no agent holds the task', async () => {
    const closed = reportOutcome(claimed(), { agent_id: 'ann' }, done, START).task;
    for (const task of [sampleTask(), closed]) {
      assert.match((await refusal(() => releaseTask(task))).message, /cannot be released/);
      assert.match((await refusal(() => renewLease(task, START))).message, /cannot be renewed/);
    }
  });
});
