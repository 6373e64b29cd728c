/** Invariants of a task's state machine after any sequence of actions on one task. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import {
  cancelTask,
  claimTask,
  endBackoff,
  finishTask,
  MAX_TASK_RETRIES,
  releaseClaim,
  releaseTask,
  renewLease,
  reportOutcome,
  restoreClaim,
  startTask,
} from '../../../functions/src/toolsets/coordination/rules/stateMachine.ts';
import { type Claimant, isClosed, isHeld, type Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { requeueTask } from '../../../functions/src/toolsets/coordination/rules/taskActions.ts';
import { sampleTask, secondsAfterStart } from '../../support/builders.ts';
import { inRuns } from '../../support/properties.ts';

/** Expected state, which tracks only the time and the claim epochs. */
interface Model {
  now: number;
  /** All claim epochs that each agent has received. */
  readonly given: Map<string, Set<number>>;
}

interface Real {
  task: Task;
}

type Step = fc.Command<Model, Real>;

/** Returns a step that either changes the task, or is rejected and changes nothing. */
function step(name: string, change: (task: Task, now: Date, model: Model) => Task): Step {
  return {
    check: () => true,
    toString: () => name,
    run(model, real) {
      const before = real.task;
      model.now += 1;
      try {
        real.task = change(before, secondsAfterStart(model.now), model);
      } catch (error) {
        assert.ok(error instanceof MusterError && error.code === 'CONFLICT', String(error));
        assert.ok(error.message.includes(before.status), `${error.message} does not name ${before.status}`);
      }
      holds(before, real.task);
    },
  };
}

/** Asserts the invariants that every step preserves. */
function holds(before: Task, after: Task): void {
  assert.ok(after.claim_epoch >= before.claim_epoch, 'the epoch never decreases');
  const isRevived = isClosed(before.status) && after.status === 'available';
  if (isRevived) {
    assert.notEqual(before.status, 'done', 'done is final');
    assert.equal(after.claim_epoch, before.claim_epoch);
    assert.equal(after.former_ends.at(-1)?.error, before.error, 'the previous outcome is recorded');
    assert.ok(
      !after.lapsed_claims.some((expired) => expired.claim_epoch === after.claim_epoch),
      'no old claim is valid',
    );
  } else if (isClosed(before.status)) {
    assert.deepEqual({ ...after, late_result: undefined }, { ...before, late_result: undefined }, 'closed is final');
  }
  // A task without a claim is closed only by a caller that does not hold it, such as its manager.
  const claimed = isHeld(after.status) || (isClosed(after.status) && before.claim !== undefined);
  if (claimed) assert.ok(after.claim !== undefined, 'a held or settled task has a claim');
  if (after.status === 'available') assert.equal(after.claim, undefined, 'no claim without a holder');
  if (after.claim) assert.equal(after.claim.claim_epoch, after.claim_epoch, 'the claim in force is the latest');
  if (isHeld(before.status) && isHeld(after.status)) assert.equal(after.claim?.claimed_by, before.claim?.claimed_by);
  assert.ok(after.retries <= MAX_TASK_RETRIES);
  assert.equal(after.blockers, after.retry_at === undefined ? 0 : 1, 'only a wait blocks');
  assert.equal(after.status === 'done', after.result !== undefined);
  assert.equal(isClosed(after.status), after.completed_at !== undefined);
}

const agent = fc.constantFrom('ann', 'bob', 'cleo');
const epoch = fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined });
const outcome = fc.oneof(
  fc.record({ kind: fc.constant('done' as const), result: fc.record({ output: fc.constantFrom('x', 'y') }) }),
  fc.record({ kind: fc.constant('failed' as const), error: fc.constant('no'), retryable: fc.boolean() }),
);

/** Any agent with any epoch. The holder is chosen often, so that tasks make progress. */
const claimant = fc.tuple(fc.oneof(agent, fc.constant(undefined)), epoch).map(([named, given]) => ({
  toString: () => `${named ?? 'the holder'} ${given ?? ''}`,
  of: (task: Task): Claimant => {
    const holder = named === undefined ? task.claim?.claimed_by : undefined;
    return holder !== undefined || given === undefined
      ? { agent_id: holder ?? named ?? 'ann' }
      : { agent_id: named ?? 'ann', claim_epoch: given };
  },
}));

const claim = agent.map((agentId) =>
  step(`claim ${agentId}`, (task, now, model) => {
    const claimed = claimTask(task, agentId, 60, now);
    model.given.set(agentId, (model.given.get(agentId) ?? new Set()).add(claimed.claim_epoch));
    return claimed;
  }),
);

const start = claimant.map((who) => step(`start ${who}`, (task, now) => startTask(task, who.of(task), now)));

/** A heartbeat restores the claim of a runner whose lease has just expired. */
const restore = claimant.map((who) =>
  step(`restore ${who}`, (task, now, model) => {
    const restored = restoreClaim(task, who.of(task), 60, now);
    if (restored === undefined) return task;
    assert.notEqual(task.released_epoch, task.claim_epoch, 'a revoked claim is not restored');
    assert.ok(model.given.get(restored.claim?.claimed_by ?? '')?.has(task.claim_epoch));
    return restored;
  }),
);

const settle = fc.tuple(claimant, outcome).map(([someone, what]) =>
  step(`settle ${someone} ${JSON.stringify(what)}`, (task, now, model) => {
    const who = someone.of(task);
    const taskOutcome = reportOutcome(task, who, what, now);
    const given = model.given.get(who.agent_id) ?? new Set();
    const accepted = taskOutcome.kind === 'accepted';
    if (accepted) assert.ok(given.has(task.claim_epoch), 'only the latest claim settles a task');
    if (accepted && who.claim_epoch !== undefined)
      assert.equal(who.claim_epoch, task.claim_epoch, 'a stale epoch never overwrites');
    if (taskOutcome.kind === 'late') assert.ok(given.has(taskOutcome.task.late_result?.claim_epoch ?? 0));
    return taskOutcome.task;
  }),
);

const finish = step('finish', (task, now, model) => {
  const { kind, task: finished } = finishTask(
    task,
    { output: 'merged' },
    { step: 'merged', by: 'github', at: now },
    now,
  );
  assert.equal(kind, isClosed(task.status) ? 'repeated' : 'accepted');
  assert.ok(isClosed(finished.status));
  const { claim } = finished;
  if (claim) assert.ok(model.given.get(claim.claimed_by)?.has(task.claim_epoch), 'only for the latest holder');
  else assert.ok(!isHeld(task.status), 'never without its holder');
  return finished;
});

const others = fc.constantFrom(
  finish,
  step('release', (task) => releaseTask(task)),
  step('take away', (task) => releaseClaim(task, 'Released by lead.')),
  step('cancel', (task, now) => cancelTask(task, 'Cancelled by lead.', now)),
  step('revive', (task) => requeueTask(task)),
  step('renew', (task, now) => renewLease(task, now)),
  step('end backoff', (task) => endBackoff(task)),
);

describe('state machine of a task', () => {
  it('has at most one holder and one outcome, and never decreases its epoch, after any steps', () => {
    const steps = fc.commands([claim, start, settle, restore, others], { maxCommands: 80, size: 'max' });
    inRuns(500).forAll(steps, (commands) => {
      fc.modelRun(() => ({ model: { now: 0, given: new Map() }, real: { task: sampleTask() } }), commands);
    });
  });
});
