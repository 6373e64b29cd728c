import assert from 'node:assert/strict';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import { agentOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { answer } from './calls.ts';
import { Team, unkeyed } from './team.ts';

describe('task actions', () => {
  let team: Team;
  let ann: string;

  const levers = () => team.app.services.taskLevers;
  const cancel = (taskId: string, reason?: string, principal = team.leader) =>
    levers().cancel(principal, { taskId, reason }, unkeyed);
  const release = (taskId: string, reason?: string) => levers().release(team.leader, { taskId, reason }, unkeyed);
  const retry = (taskId: string, withDependents = false) =>
    levers().retry(team.leader, { taskId, withDependents }, unkeyed);
  const held = async (id: string) => Object.keys((await team.app.access.ports.agents.find(id))?.value.held ?? {});

  async function claimed(): Promise<string> {
    const { id } = await team.createOne({ priority: 1 });
    assert.equal(await team.claim(ann), id);
    return id;
  }

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  describe('cancel_task', () => {
    it('ends a held task, reports caller and reason to its holder, and updates dependents', async () => {
      const id = await claimed();
      const after = await team.createOne({ dependencies: [id] });
      await cancel(id, 'no longer wanted');
      const task = await team.task(id);
      assert.deepEqual([task.status, task.claim?.claimed_by, task.completed_at], ['cancelled', ann, team.now]);
      assert.deepEqual(await held(ann), []);
      assert.deepEqual(await team.counts(), { available: 1, cancelled: 1 });
      assert.deepEqual((await team.task(after.id)).failed_dependencies, [id]);
      for (const act of [() => team.start(ann, id), () => team.complete(ann, id)]) {
        const { code, message } = await refusal(act);
        assert.equal(code, 'CONFLICT');
        assert.match(message, new RegExp(`Cancelled by ${team.leader.agent_id}: no longer wanted`));
      }
      assert.equal((await refusal(() => cancel(id))).code, 'CONFLICT');
    });

    it('ends a task that waits for its retry and has no holder', async () => {
      const { id } = await team.createOne();
      await team.claim(ann);
      await team.fail(ann, id, true);
      await cancel(id);
      const { status, retry_at: retryAt, blockers } = await team.task(id);
      assert.deepEqual([status, retryAt, blockers], ['cancelled', undefined, 0]);
      assert.equal(await team.claim(ann), undefined);
    });

    it('ends a task even if the holder of the task does not exist', async () => {
      const id = await claimed();
      const { firestore } = await import('../../../functions/src/kernel/firestore/client.ts');
      await firestore().doc(`agents/${ann}`).delete();
      await cancel(id);
      assert.equal((await team.task(id)).status, 'cancelled');
    });
  });

  it("are allowed to leaders and agents of the creator's owner, and refused to others", async () => {
    const { id } = await team.createOne();
    const create = (name: string) => {
      const opener = team.principal(name);
      return team.app.services.taskCreation.create(
        { ...team.request([{}]), createdBy: team.agentId(name), opener },
        unkeyed,
      );
    };
    const [own] = await create('ann');
    assert.ok(own);
    const stranger = (role: Role) => agentOf('stranger', 'somebody-else', role);
    assert.equal((await refusal(() => cancel(id, undefined, stranger('worker')))).code, 'FORBIDDEN');
    assert.equal((await refusal(() => cancel(own.id, undefined, stranger('worker')))).code, 'FORBIDDEN');
    const outside = { ...stranger('leader'), held_to: 'elsewhere' };
    assert.equal((await refusal(() => cancel(id, undefined, outside))).code, 'NOT_FOUND');
    assert.equal((await refusal(() => cancel('task-xxx-404'))).code, 'NOT_FOUND');
    // Bob is another agent of the owner of the task's creator.
    assert.equal((await cancel(own.id, undefined, team.principal('bob'))).status, 'cancelled');
  });

  describe('release_task', () => {
    it('makes the task claimable; the previous holder can report an outcome until the next claim', async () => {
      const bob = await team.join('bob');
      const id = await claimed();
      await release(id, 'it hangs');
      assert.deepEqual([await held(ann), await team.counts()], [[], { available: 1 }]);
      assert.equal((await refusal(() => team.start(ann, id))).code, 'CONFLICT');
      assert.equal((await refusal(() => release(id))).code, 'CONFLICT');
      assert.equal(await team.claim(bob), id);
      const { kind, task } = await team.complete(ann, id, 'late');
      assert.deepEqual([kind, task.late_result?.result?.output, task.status], ['late', 'late', 'claimed']);

      const other = await team.createOne();
      const cleo = await team.join('cleo');
      assert.equal(await team.claim(cleo), other.id);
      await release(other.id);
      assert.equal((await team.complete(cleo, other.id)).kind, 'accepted');
    });
  });

  describe('retry_task', () => {
    it('requeues a failed or cancelled task and stores the previous outcome', async () => {
      const id = await claimed();
      await team.fail(ann, id);
      const { task } = await retry(id);
      assert.deepEqual(
        [task.status, task.claim_epoch, task.claim, task.completed_at],
        ['available', 1, undefined, undefined],
      );
      assert.deepEqual(task.former_ends, [
        { status: 'failed', error: 'It broke', ended_at: team.now, claim_epoch: 1, agent_id: ann, retries: 0 },
      ]);
      assert.deepEqual(await team.counts(), { available: 1 });
      // A late report of the previous holder never overwrites the new attempt.
      assert.equal((await refusal(() => team.complete(ann, id))).code, 'CONFLICT');
      const bob = await team.join('bob');
      assert.equal(await team.claim(bob), id);
      await team.complete(bob, id);
      const { reason, details } = {
        reason: (await refusal(() => retry(id))).code,
        details: (await refusal(() => retry(id))).details,
      };
      assert.equal(reason, 'CONFLICT');
      assert.match(String(details.suggestion), /create another task/);
    });

    it('unblocks dependents; if with_dependents is set, it also retries closed dependents', async () => {
      const [first, second, third, fourth] = await team.create(
        {},
        { dependencies: ['task-1'] },
        { dependencies: ['task-1', 'task-2'] },
        { dependencies: ['task-3'] },
      );
      assert.ok(first && second && third && fourth);
      await cancel(first.id);
      await cancel(second.id);
      await cancel(fourth.id);
      assert.deepEqual((await team.task(third.id)).failed_dependencies, [first.id, second.id]);
      const { dependents } = await retry(first.id, true);
      assert.deepEqual(dependents, [second.id, fourth.id]);
      for (const { id } of [first, second, third, fourth]) {
        const { status, failed_dependencies: failedDependencies } = await team.task(id);
        assert.deepEqual([status, failedDependencies], ['available', []]);
      }
      assert.deepEqual(await team.counts(), { available: 4 });
      for (const { id } of [first, second, third, fourth]) {
        assert.equal(await team.claim(ann), id);
        await team.complete(ann, id);
      }
      assert.deepEqual(await team.counts(), { done: 4 });
    });

    it('unblocks a dependent that was created after the task had failed', async () => {
      const { id } = await team.createOne();
      await cancel(id);
      const after = await team.createOne({ dependencies: [id] });
      assert.deepEqual(after.failed_dependencies, [id]);
      await retry(id);
      assert.equal(await team.claim(ann), id);
      await team.complete(ann, id);
      assert.equal(await team.claim(ann), after.id);
    });

    it('refuses an open task and a task in an archived session', async () => {
      const { id } = await team.createOne();
      assert.equal((await refusal(() => retry(id))).code, 'CONFLICT');
      await cancel(id);
      const { coordination } = team.app.services;
      await coordination.initialize(team.workspace, { goal: 'One' }, unkeyed);
      await coordination.initialize(team.workspace, { goal: 'Two' }, unkeyed);
      const { code, message } = await refusal(() => retry(id));
      assert.equal(code, 'CONFLICT');
      assert.match(message, /session is archived/);
    });
  });

  describe('stuck tasks', () => {
    const settle = () => team.sweepStuck();
    const stuck = async () => {
      const { items } = await team.app.services.coordination.listStuck(team.workspace, { limit: 100 });
      return items.map(({ id, stuck_by: stuckBy }) => [id, stuckBy]);
    };

    it('are found through any number of dependencies, and are not stuck after a retry of the cause', async () => {
      const [first, second, third, fourth] = await team.create(
        {},
        { dependencies: ['task-1'] },
        { dependencies: ['task-2'] },
        { dependencies: ['task-3'] },
      );
      assert.ok(first && second && third && fourth);
      await cancel(first.id);
      await settle();
      assert.deepEqual(await stuck(), [
        [second.id, first.id],
        [third.id, first.id],
        [fourth.id, first.id],
      ]);
      const reported = await answer(team, 'coordination_get_all_tasks', { status_filter: 'stuck' });
      assert.match(JSON.stringify(reported), new RegExp(`Can never start, because task \\\\"${first.id}\\\\"`));
      const status = await answer(team, 'coordination_get_status', {});
      assert.match(JSON.stringify(status['stuck']), /^\{"count":3,/);
      const queue = await answer(team, 'system_getTaskQueue', {});
      assert.equal(JSON.stringify(queue).match(/Can never start/g)?.length, 3);
      const { explanation } = await answer(team, 'coordination_claim_task', { agent_id: ann }, team.principal('ann'));
      assert.match(String(explanation), /can never start, because/);
      // A new task is stuck because of its direct dependency. The next sweep finds the original cause.
      team.pass(1);
      const fifth = await team.createOne({ dependencies: [fourth.id] });
      await settle();
      assert.deepEqual((await stuck()).at(-1), [fifth.id, first.id]);
      await retry(first.id);
      await settle();
      assert.deepEqual(await stuck(), []);
      assert.deepEqual((await team.task(fifth.id)).stuck_dependencies, {});
    });

    it('have the second of two causes after a retry of the first, and are not stuck once completed', async () => {
      const [one, two, both, last] = await team.create(
        {},
        {},
        { dependencies: ['task-1', 'task-2'] },
        { dependencies: ['task-3'] },
      );
      assert.ok(one && two && both && last);
      await cancel(one.id);
      await cancel(two.id);
      await settle();
      await retry(one.id);
      await settle();
      assert.deepEqual(await stuck(), [
        [both.id, two.id],
        [last.id, two.id],
      ]);
      await team.app.services.taskQueue.finish(both.id, { output: 'merged' });
      await settle();
      assert.deepEqual(await stuck(), []);
    });
  });

  describe('update_task', () => {
    const update = (taskId: string, wishes: object) =>
      team.app.services.taskUpdates.update(team.leader, { taskId, ...wishes }, unkeyed);

    it('changes details and queue position of a task, and null removes its deadline', async () => {
      const deadline = new Date(team.now.getTime() + 3_600_000);
      const [first, second] = await team.create({ priority: 5, deadline }, { priority: 6 });
      assert.ok(first && second);
      await team.app.services.taskClaims.claim(
        { workspace: team.workspace, agentId: await team.join('bob', []), leaseSeconds: 60, by: { uid: 'agent:bob' } },
        unkeyed,
      );
      await release(first.id);
      await update(first.id, { deadline: null, description: 'Other work', priority: 7, hints: 'Mind the gap' });
      const task = await team.task(first.id);
      assert.deepEqual(
        [task.deadline, task.description, task.priority, task.context.hints],
        [undefined, 'Other work', 7, 'Mind the gap'],
      );
      assert.equal(await team.claim(ann), second.id);
    });

    it('writes nothing, and reports this, if all given values equal the stored ones', async () => {
      const deadline = new Date(team.now.getTime() + 3_600_000);
      const before = await team.createOne({ deadline });
      const { id } = await team.createOne({ dependencies: [before.id], hints: 'Mind the gap', deadline });
      const args = {
        task_id: id,
        description: 'Some work',
        priority: 5,
        dependencies: [before.id],
        hints: 'Mind the gap',
        deadline: deadline.toISOString(),
      };
      const stored = await team.app.coordination.ports.tasks.find(id);
      for (const same of [args, { task_id: id, priority: 5 }]) {
        const unchanged = await answer(team, 'coordination_update_task', same, team.leader);
        assert.equal(unchanged['success'], true);
        assert.match(String(unchanged['message']), /^Nothing changed/);
      }
      assert.equal((await team.app.coordination.ports.tasks.find(id))?.version, stored?.version);
      for (const other of [{ priority: 6 }, { clear: ['deadline'] }, { dependencies: [] }]) {
        const changed = await answer(team, 'coordination_update_task', { task_id: id, ...other }, team.leader);
        assert.equal(changed['message'], undefined);
      }
    });

    it('changes the required capabilities', async () => {
      const { id } = await team.createOne();
      await update(id, { required_capabilities: ['sql'] });
      assert.equal(await team.claim(ann), undefined);
      assert.equal(await team.claim(await team.join('dba', ['sql'])), id);
    });

    it('replaces dependencies after the same checks as create_task', async () => {
      const [one, two, three] = await team.create({}, { dependencies: ['task-1'] }, {});
      assert.ok(one && two && three);
      await update(two.id, { dependencies: [three.id] });
      assert.deepEqual((await team.task(one.id)).dependents, []);
      assert.deepEqual((await team.task(three.id)).dependents, [two.id]);
      const cyclic = await refusal(() => update(three.id, { dependencies: [two.id] }));
      assert.match(cyclic.message, new RegExp(`cycle: ${three.id} -> ${two.id} -> ${three.id}`));
      assert.match((await refusal(() => update(two.id, { dependencies: [two.id] }))).message, /cycle/);
      const unknown = await refusal(() => update(two.id, { dependencies: ['task-xxx-404'] }));
      assert.equal(unknown.details.reason, 'UNKNOWN_DEPENDENCY');
      assert.equal(await team.claim(ann), one.id);
      await team.complete(ann, one.id);
      assert.equal((await team.task(two.id)).blockers, 1, 'the task no longer waits for its removed dependency');
      assert.equal(await team.claim(ann), three.id);
      await team.complete(ann, three.id);
      assert.equal(await team.claim(ann), two.id);
    });

    it('creates no cycle of dependencies, even if several tasks are changed concurrently', async () => {
      const [one, two, three] = await team.create({}, {}, {});
      assert.ok(one && two && three);
      // Gives each task a dependent, because only tasks with dependents are checked for cycles.
      await team.create({ dependencies: [one.id, two.id, three.id] });
      const outcomes = await Promise.allSettled([
        update(one.id, { dependencies: [two.id] }),
        update(two.id, { dependencies: [three.id] }),
        update(three.id, { dependencies: [one.id] }),
      ]);
      assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1);
    });

    it('refuses to change a closed task, or the dependencies of a held task', async () => {
      const id = await claimed();
      const other = await team.createOne();
      assert.equal((await refusal(() => update(id, { dependencies: [other.id] }))).code, 'CONFLICT');
      await update(id, { description: 'Changed' });
      assert.equal((await team.task(id)).status, 'claimed');
      await team.complete(ann, id);
      assert.equal((await refusal(() => update(id, { description: 'Changed again' }))).code, 'CONFLICT');
      assert.equal((await refusal(() => update(other.id, {}))).code, 'VALIDATION_ERROR');
    });
  });
});
