import assert from 'node:assert/strict';
import { refusal } from '../../support/refusal.ts';
import { Team } from './team.ts';

describe('start_task, complete_task and fail_task', () => {
  let team: Team;
  let ann: string;

  const profile = async (agentId: string) => (await team.app.access.ports.agents.find(agentId))?.value;

  async function claimed(): Promise<string> {
    const { id } = await team.createOne({ priority: 1 });
    assert.equal(await team.claim(ann), id);
    return id;
  }

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  it('start and complete a task, and update the result, the holder and the counters', async () => {
    const id = await claimed();
    team.pass(5);
    await team.start(ann, id);
    assert.deepEqual(await team.counts(), { in_progress: 1 });
    team.pass(5);
    const result = { output: 'Made it', files_modified: ['a.ts'], files_created: [] };
    const { kind } = await team.settle(ann, id, { kind: 'done', result });
    const task = await team.task(id);
    assert.deepEqual([kind, task.status, task.result, task.completed_at], ['accepted', 'done', result, team.now]);
    const agent = await profile(ann);
    assert.deepEqual([agent?.held, agent?.tasks_completed, agent?.tasks_failed], [{}, 1, 0]);
    assert.deepEqual(await team.counts(), { done: 1 });
  });

  it('start a task once if the holder repeats the call', async () => {
    const id = await claimed();
    const first = await team.start(ann, id);
    const before = await team.app.coordination.ports.tasks.find(id);
    team.pass(5);
    assert.deepEqual(await team.start(ann, id), first);
    assert.deepEqual(await team.app.coordination.ports.tasks.find(id), before, 'the repeated call writes nothing');
    assert.deepEqual(await team.counts(), { in_progress: 1 });
  });

  it('can fail a task permanently, which blocks its dependents and stores the cause', async () => {
    const [first, second, third] = await team.create(
      {},
      { dependencies: ['task-1'] },
      { dependencies: ['task-1', 'task-2'] },
    );
    assert.ok(first && second && third);
    await team.claim(ann);
    const { task } = await team.fail(ann, first.id);
    assert.deepEqual(task.dependents, [second.id, third.id]);
    for (const { id } of [second, third]) {
      const dependent = await team.task(id);
      assert.deepEqual([dependent.status, dependent.failed_dependencies], ['available', [first.id]]);
    }
    assert.equal(await team.claim(ann), undefined);
    const agent = await profile(ann);
    assert.deepEqual([agent?.tasks_completed, agent?.tasks_failed], [0, 1]);
    assert.deepEqual(await team.counts(), { available: 2, failed: 1 });
  });

  it('count a report and unblock dependents once, even if equal reports arrive concurrently', async () => {
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    assert.ok(first && second);
    await team.claim(ann);
    const reports = await Promise.all(Array.from({ length: 5 }, () => team.complete(ann, first.id)));
    const kinds = reports.map((report) => report.kind).toSorted();
    assert.deepEqual(kinds, ['accepted', 'repeated', 'repeated', 'repeated', 'repeated']);
    assert.equal((await team.task(second.id)).blockers, 0);
    assert.deepEqual(await team.counts(), { available: 1, done: 1 });
  });

  it('accept only one of two different reports of one task that are concurrent', async () => {
    const id = await claimed();
    const reports = await Promise.allSettled([team.complete(ann, id), team.fail(ann, id)]);
    assert.equal(reports.filter((report) => report.status === 'fulfilled').length, 1);
    const { status } = await team.task(id);
    assert.deepEqual(await team.counts(), { [status]: 1 });
  });

  it('unblock a task whose dependencies are completed concurrently', async () => {
    const bob = await team.join('bob');
    const [first, second, third] = await team.create({}, {}, { dependencies: ['task-1', 'task-2'] });
    assert.ok(first && second && third);
    await team.claim(ann);
    await team.claim(bob);
    await Promise.all([team.complete(ann, first.id), team.complete(bob, second.id)]);
    assert.equal((await team.task(third.id)).blockers, 0);
    assert.equal(await team.claim(bob), third.id);
  });

  it('requeue a task after its first three temporary failures, with delays of 30, 60 and 120 s', async () => {
    const id = await claimed();
    for (const [retry, wait] of [30, 60, 120].entries()) {
      const { task } = await team.fail(ann, id, true);
      assert.deepEqual([task.status, task.retries], ['available', retry + 1]);
      assert.deepEqual(task.retry_at, new Date(team.now.getTime() + wait * 1000));
      assert.deepEqual((await profile(ann))?.held, {});
      team.pass(wait - 1);
      assert.equal(await team.claim(ann), undefined, `the retry is not claimable before ${wait} s`);
      team.pass(1);
      assert.equal(await team.claim(ann), id);
      assert.deepEqual(await team.counts(), { claimed: 1 });
    }
    const { task } = await team.fail(ann, id, true);
    assert.deepEqual([task.status, task.claim_epoch], ['failed', 4]);
    assert.equal((await profile(ann))?.tasks_failed, 1, 'only the last failure counts as a failed task');
    assert.deepEqual(await team.counts(), { failed: 1 });
  });

  it('keep dependents blocked while their dependency waits for its retry', async () => {
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    assert.ok(first && second);
    await team.claim(ann);
    await team.fail(ann, first.id, true);
    const waiting = await team.task(second.id);
    assert.deepEqual([waiting.blockers, waiting.failed_dependencies], [1, []]);
    team.pass(30);
    assert.equal(await team.claim(ann), first.id);
    await team.complete(ann, first.id);
    assert.equal(await team.claim(ann), second.id);
  });

  it('set a delay before a retry; it ends once, even if several agents claim concurrently', async () => {
    const id = await claimed();
    await team.fail(ann, id, true);
    team.pass(30);
    const others = await Promise.all(['bob', 'cleo', 'dan'].map((name) => team.join(name)));
    const claims = await Promise.all(others.map((agentId) => team.claim(agentId)));
    const found = claims.filter((claim) => claim !== undefined);
    assert.deepEqual(found, [id]);
    assert.equal((await team.task(id)).blockers, 0);
    assert.deepEqual(await team.counts(), { claimed: 1 });
  });

  it('reject a report if its epoch is not that of the claim', async () => {
    const id = await claimed();
    const error = await refusal(() => team.settle(ann, id, { kind: 'done', result: { output: 'x' } }, 2));
    assert.match(error.message, /it is claimed, held by you/);
    assert.equal((await team.settle(ann, id, { kind: 'done', result: { output: 'x' } }, 1)).kind, 'accepted');
  });

  it('refuse a report that is too large, and change nothing', async () => {
    const id = await claimed();
    const error = await refusal(() => team.complete(ann, id, 'é'.repeat(150_000)));
    assert.equal(error.code, 'VALIDATION_ERROR');
    assert.equal((await team.task(id)).status, 'claimed');
  });
});
