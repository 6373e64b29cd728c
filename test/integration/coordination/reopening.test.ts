import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { deferred } from '../../../functions/src/kernel/concurrency.ts';
import { refusal } from '../../support/refusal.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { answer } from './calls.ts';
import { Team, unkeyed } from './team.ts';

describe('an archived session', () => {
  let team: Team;
  let ann: string;

  const initialize = (goal: string) =>
    team.app.services.coordination.initialize(team.workspace, { goal, masterPlan: 'A plan' }, unkeyed);
  const reopen = (id?: string) => team.app.services.coordination.archives.restore(team.workspace, id, unkeyed);

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  it('is reported with its open tasks, and can be restored with its claims and counters', async () => {
    const { session: first } = await initialize('One');
    const [one, two] = await team.create({ priority: 1 }, { required_capabilities: ['sql'] });
    assert.ok(one && two);
    assert.equal(await team.claim(ann), one.id);
    team.pass(1);
    const { archived_session: archived } = await answer(team, 'coordination_init_coordination', { goal: 'Tow' });
    assert.deepEqual(archived, { id: first.id, goal: 'One', open_tasks: 2, held_tasks: 1 });
    const three = await team.createOne();
    team.pass(1);
    const back = await answer(team, 'coordination_reopen', {});
    assert.equal(back['session_id'], first.id);
    assert.deepEqual([back['goal'], back['open_tasks'], back['held_tasks']], ['One', 2, 1]);
    assert.match(JSON.stringify(back['archived_session']), /"goal":"Tow","open_tasks":1/);
    assert.deepEqual(await team.counts(), { available: 1, claimed: 1 });
    await team.complete(ann, one.id);
    const dba = await team.join('dba', ['sql']);
    assert.equal(await team.claim(dba), two.id);
    assert.equal(await team.claim(ann), undefined);
    // Without an id, the tool reopen restores the session that was archived last.
    await reopen();
    assert.equal(await team.claim(ann), three.id);
    await reopen(first.id);
    assert.equal((await team.app.services.coordination.session(team.workspace))?.master_plan, 'A plan');
    assert.deepEqual(await team.counts(), { claimed: 1, done: 1 });
  });

  it('has claimable tasks again after reopening, even at instances that read its queue before', async () => {
    await initialize('One');
    const other = team.anotherInstance();
    assert.equal((await team.claimOutcome(ann, 60, other)).kind, 'none');
    const { id } = await team.createOne();
    await initialize('Two');
    assert.equal((await team.claimOutcome(ann, 60, other)).kind, 'none');
    await reopen();
    const outcome = await team.claimOutcome(ann, 60, other);
    assert.ok(outcome.kind === 'claimed' && outcome.task.id === id);
  });

  it('keeps the capability set of a task that is created while the session is archived', async () => {
    await initialize('One');
    await Promise.all([team.create({ required_capabilities: ['sql'] }).catch(() => undefined), initialize('Two')]);
    const second = (await team.tasks()).length;
    await reopen();
    const inFirst = (await team.tasks()).length;
    assert.equal(second + inFirst, 1);
    if (second === 1) await reopen();
    const dba = await team.join('dba', ['sql']);
    assert.ok(await team.claim(dba), 'the session with the task contains its capability set');
  });

  it('cannot be reopened if it is unknown or already open', async () => {
    const { session } = await initialize('One');
    assert.equal((await refusal(() => reopen())).code, 'NOT_FOUND');
    assert.equal((await refusal(() => reopen('session-none'))).code, 'NOT_FOUND');
    const { code, details } = await refusal(() => reopen(session.id));
    assert.deepEqual([code, details.reason], ['CONFLICT', 'WRONG_STATE']);
  });

  it('is reopened and archived again if reopen is called twice concurrently', async () => {
    await initialize('One');
    await initialize('Two');
    await Promise.all([reopen(), reopen()]);
    assert.equal((await team.app.services.coordination.session(team.workspace))?.goal, 'Two');
  });

  it('is restored by reopen if it was archived last, even after another call of reopen', async () => {
    const { session: first } = await initialize('One');
    await initialize('Two');
    const { sessions } = team.app.coordination.ports;
    const opening = sessions.opening.bind(sessions);
    const lastArchived = sessions.lastArchived.bind(sessions);
    const other = deferred();
    const mocks = [
      mock.method(
        sessions,
        'opening',
        async (workspace: string) => {
          const before = await opening(workspace);
          await reopen(first.id);
          other.resolve();
          return before;
        },
        { times: 1 },
      ),
      mock.method(sessions, 'lastArchived', (workspace: string) => other.promise.then(() => lastArchived(workspace))),
    ];
    try {
      const { session, archived } = await reopen();
      assert.deepEqual([session.goal, archived?.session.goal], ['Two', 'One']);
    } finally {
      for (const { mock: method } of mocks) method.restore();
    }
  });

  it('keeps the tasks of its runs only if it is reopened before these tasks are cancelled', async () => {
    await initialize('One');
    const [task] = await team.create({ id: `run-${team.workspace}-1` });
    assert.ok(task);
    const open = await team.app.coordination.ports.sessions.current(team.workspace);
    assert.ok(open);
    const { session, sessionVersion: version } = open;
    const opening = { ...session, id: `${session.id}-2` };
    await team.app.kernel.store.commit([
      { kind: 'archiveSession', session, version, at: team.now },
      { kind: 'openSession', session: opening, replaces: open.workspaceVersion },
    ]);
    // Simulates an instance that crashed after it archived the session and before it cancelled the tasks.
    await reopen(session.id);
    await team.app.services.coordination.archives.sweepJob.run(sweepContextAt(team.now));
    assert.equal((await team.task(task.id)).status, 'available');
    await initialize('Three');
    await reopen(session.id);
    assert.equal((await team.task(task.id)).status, 'cancelled');
    const { taskLevers } = team.app.services;
    const { details } = await refusal(() =>
      taskLevers.retry(team.leader, { taskId: task.id, withDependents: false }, unkeyed),
    );
    assert.equal(details.reason, 'RUN_ENDED');
  });
});
