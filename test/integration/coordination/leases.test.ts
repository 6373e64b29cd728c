import assert from 'node:assert/strict';
import type { Versioned } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { SweepBatch, TimeCursor } from '../../../functions/src/kernel/paging.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { Team } from './team.ts';

describe('the sweep of leases', () => {
  let team: Team;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    team = new Team();
    [ann, bob] = [await team.join('ann'), await team.join('bob')];
  });

  /** Creates a task that ann claims, and lets the lease expire. */
  async function abandoned(): Promise<string> {
    const { id } = await team.createOne();
    assert.equal(await team.claim(ann, 600), id);
    team.pass(601);
    return id;
  }

  it('does not release a task before its lease expires', async () => {
    const { id } = await team.createOne();
    await team.claim(ann, 600);
    team.pass(599);
    await team.sweep();
    assert.deepEqual([(await team.task(id)).status, await team.claim(bob)], ['claimed', undefined]);
  });

  it('releases a task even if another task is unreadable', async () => {
    const broken = await team.createOne();
    await team.claim(ann, 600);
    await firestore().doc(taskPath(broken.id)).update({ priority: 'soon' });
    const { id } = await team.createOne();
    await team.claim(bob, 600);
    team.pass(601);
    await team.sweep();
    assert.equal((await team.task(id)).status, 'available');
    await firestore().doc(taskPath(broken.id)).delete();
  });

  it('releases a task whose holder was deleted', async () => {
    const { id } = await team.createOne();
    await team.claim(ann, 600);
    await firestore().doc(agentPath(ann)).delete();
    team.pass(601);
    await team.sweep();
    assert.deepEqual([(await team.task(id)).status, await team.counts()], ['available', { available: 1 }]);
    assert.equal(await team.claim(bob), id);
  });

  it('releases each readable task with an expired lease, and skips unreadable tasks', async () => {
    const { tasks } = team.app.coordination.ports;
    const created = await team.create({}, {}, {});
    await team.allow(ann, 3);
    for (const { id } of created) {
      assert.equal(await team.claim(ann, 600), id);
      await team.start(ann, id);
      team.pass(1);
    }
    const [first, broken, last] = created.map(({ id }) => id);
    await firestore()
      .doc(taskPath(String(broken)))
      .update({ priority: 'soon' });
    team.pass(600);
    const found: unknown[] = [];
    let after: TimeCursor | undefined = { at: new Date(team.now.getTime() - 4000), id: '0' };
    do {
      const batch: SweepBatch<Versioned<Task>> = await tasks.expired(team.now, 1, after);
      found.push(...batch.found.map(({ item, place }) => [item.value.id, place.id]));
      after = batch.next;
    } while (after !== undefined);
    assert.deepEqual(found, [
      [first, first],
      [last, last],
    ]);
    await firestore()
      .doc(taskPath(String(broken)))
      .delete();
  });

  for (const started of [false, true])
    it(`releases the task of an offline holder${started ? ' that had started it' : ''}`, async () => {
      const { id } = await team.createOne();
      await team.claim(ann, 600);
      if (started) await team.start(ann, id);
      team.pass(601);
      await team.sweep();
      const task = await team.task(id);
      assert.deepEqual([task.status, task.claim, task.claim_epoch], ['available', undefined, 1]);
      assert.deepEqual(task.lapsed_claims, [{ agent_id: ann, claim_epoch: 1 }]);
      assert.deepEqual((await team.app.access.ports.agents.find(ann))?.value.held, {});
      assert.deepEqual(await team.counts(), { available: 1 });
      assert.equal(await team.claim(bob), id);
      assert.equal((await team.task(id)).claim_epoch, 2);
    });

  it('renews a lease if the holder of the task was seen after the claim', async () => {
    const { id } = await team.createOne();
    await team.claim(ann, 600);
    team.pass(500);
    await team.app.access.ports.presence.touch(ann);
    const seen = team.now;
    team.pass(200);
    await team.sweep();
    const { status, claim } = await team.task(id);
    assert.deepEqual([status, claim?.lease_expires_at], ['claimed', new Date(seen.getTime() + 600_000)]);
    team.pass(401);
    await team.sweep();
    assert.equal((await team.task(id)).status, 'available', 'the task is released after the renewed lease expires');
  });

  describe('with short leases', () => {
    const LEASES = [
      { lease: 5, between: 4 },
      { lease: 30, between: 26 },
      { lease: 90, between: 80 },
    ];

    /** Advances the clock by this many seconds, with a sweep every 20 seconds. */
    async function passSwept(seconds: number): Promise<void> {
      for (let second = 0; second < seconds; second++) {
        team.pass(1);
        if (team.now.getSeconds() % 20 === 0) await team.sweep();
      }
    }

    for (const { lease, between } of LEASES)
      it(`keeps a lease of ${lease} s if the holder calls any instance every ${between} s`, async () => {
        const { id } = await team.createOne();
        const apps = [team.app, team.anotherInstance(), team.anotherInstance()];
        for (const { access } of apps) await access.ports.presence.touch(ann);
        team.pass(1);
        assert.equal((await team.claimOutcome(ann, lease)).kind, 'claimed');
        await passSwept(between);
        await apps[1]?.access.ports.presence.touch(ann);
        await team.start(ann, id);
        for (let call = 2; call * between < 200; call++) {
          await passSwept(between);
          await apps[call % apps.length]?.access.ports.presence.touch(ann);
        }
        const { status, claim, claim_epoch: epoch } = await team.task(id);
        assert.deepEqual([status, claim?.claimed_by, epoch], ['in_progress', ann, 1]);
        team.pass(lease + 1);
        await team.sweep();
        assert.equal((await team.task(id)).status, 'available', 'the lease expires if the holder is not seen');
      });
  });

  it('releases each task once if several sweeps run concurrently', async () => {
    await team.allow(ann, 5);
    const tasks = await team.create({}, {}, {}, {}, {});
    for (const { id } of tasks) {
      assert.equal(await team.claim(ann, 600), id);
      await team.start(ann, id);
    }
    team.pass(601);
    await Promise.all([team.sweep(), team.sweep(team.anotherInstance()), team.sweep(team.anotherInstance())]);
    for (const { id } of tasks) assert.deepEqual((await team.task(id)).lapsed_claims.length, 1);
    assert.deepEqual(await team.counts(), { available: 5 });
  });

  it('does not prevent the holder from reporting the outcome at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await abandoned();
      const [taskOutcome] = await Promise.all([team.complete(ann, id), team.sweep()]);
      assert.equal(taskOutcome.kind, 'accepted');
      assert.equal((await team.task(id)).status, 'done');
    }
    assert.deepEqual(await team.counts(), { done: 5 });
  });

  it('lets the holder report the outcome after the release until another agent claims the task', async () => {
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    assert.ok(first && second);
    await team.claim(ann, 600);
    team.pass(601);
    await team.sweep();
    assert.equal((await team.complete(ann, first.id)).kind, 'accepted');
    assert.equal((await team.app.access.ports.agents.find(ann))?.value.tasks_completed, 1);
    assert.deepEqual(await team.counts(), { available: 1, done: 1 });
    assert.equal(await team.claim(bob), second.id);
  });

  it('lets the holder report a temporary failure after the release, which delays the retry', async () => {
    const id = await abandoned();
    await team.sweep();
    assert.equal((await team.fail(ann, id, true)).kind, 'accepted');
    assert.deepEqual(await team.counts(), { available: 1 });
    team.pass(30);
    assert.equal(await team.claim(bob), id);
  });

  it('makes a report late if another agent has claimed the task, and notifies both agents', async () => {
    const id = await abandoned();
    await team.sweep();
    await team.claim(bob);
    const late = await team.complete(ann, id, 'Mine');
    assert.equal(late.kind, 'late');
    const { late_result: lateResult } = await team.start(bob, id);
    assert.deepEqual([lateResult?.agent_id, lateResult?.result], [ann, { output: 'Mine' }]);
    const { kind, task } = await team.complete(bob, id, 'His');
    assert.deepEqual([kind, task.result, task.late_result?.agent_id], ['accepted', { output: 'His' }, ann]);
    assert.equal((await team.complete(ann, id, 'Mine')).kind, 'late', 'a report after the completion is late too');
    assert.deepEqual((await team.task(id)).result, { output: 'His' });
    assert.equal((await team.app.access.ports.agents.find(ann))?.value.tasks_completed, 0);
    assert.deepEqual(await team.counts(), { done: 1 });
  });

  it('ends the delay before a retry without changing the counters', async () => {
    const tasks = await team.create({}, {}, {}, {});
    await team.claim(ann);
    await team.fail(ann, tasks[0]?.id ?? '', true);
    team.pass(31);
    await team.sweep();
    const { blockers, retry_at: retryAt } = await team.task(tasks[0]?.id ?? '');
    assert.deepEqual([blockers, retryAt], [0, undefined]);
    assert.deepEqual(await team.counts(), { available: 4 });
    await Promise.all([team.sweep(), team.sweep(team.anotherInstance())]);
    assert.equal((await team.task(tasks[0]?.id ?? '')).blockers, 0);
  });

  it('releases tasks of an archived session without making them claimable', async () => {
    const id = await abandoned();
    const { coordination } = team.app.services;
    await coordination.initialize(team.workspace, { goal: 'One' }, () => undefined);
    await coordination.initialize(team.workspace, { goal: 'Two' }, () => undefined);
    await team.sweep();
    assert.equal((await team.task(id)).status, 'available');
    assert.deepEqual((await team.app.access.ports.agents.find(ann))?.value.held, {});
    assert.equal(await team.claim(bob), undefined);
    assert.deepEqual(await team.counts(), {});
  });
});
