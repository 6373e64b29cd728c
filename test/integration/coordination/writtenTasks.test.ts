/** Calls that decide on a task as this instance wrote it, without reading it. Source: docs/semantics.md#coordination. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { answer, refusedWith } from './calls.ts';
import { Team, unkeyed } from './team.ts';

describe('tasks that this instance wrote', () => {
  let team: Team;
  let ann: string;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  const startOf = (id: string) => ({ agent_id: ann, task_id: id });

  /** Runs the calls while no task can be read. */
  async function withoutReads<Result>(calls: () => Promise<Result>): Promise<Result> {
    const { tasks } = team.app.coordination.ports;
    const { find } = tasks;
    tasks.find = () => Promise.reject(new Error('A task was read.'));
    try {
      return await calls();
    } finally {
      tasks.find = find;
    }
  }

  it('are started and completed without a read, with the result that a read would have', async () => {
    const { id } = await team.createOne({ deadline: new Date(team.now.getTime() + 1e6) });
    const mine = team.principal('ann');
    await answer(team, 'coordination_claim_task', { agent_id: ann }, mine);
    assert.deepEqual(await withoutReads(() => team.start(ann, id)), await team.task(id));
    await withoutReads(() => answer(team, 'coordination_complete_task', { ...startOf(id), output: 'Done' }, mine));
    const { status, result, claim } = await team.task(id);
    assert.deepEqual([status, result?.output, claim?.claimed_by], ['done', 'Done', ann]);
    assert.deepEqual(await team.counts(), { done: 1 });
  });

  it('are read if another instance has changed them since', async () => {
    const { id } = await team.createOne();
    await team.claim(ann);
    await firestore().doc(taskPath(id)).update({ description: 'Another description' });
    assert.equal((await team.start(ann, id)).description, 'Another description');
    await firestore().doc(taskPath(id)).update({ description: 'A third description' });
    await team.complete(ann, id);
    const { status, description } = await team.task(id);
    assert.deepEqual([status, description], ['done', 'A third description']);
  });

  it('are read if the decision would change nothing, or would reject the call', async () => {
    const { id } = await team.createOne();
    const mine = team.principal('ann');
    await answer(team, 'coordination_claim_task', { agent_id: ann, start: true }, mine);
    const other = team.at({ app: team.anotherInstance() });
    await answer(other, 'coordination_release_task', { task_id: id }, team.leader);
    assert.match(await refusedWith(team, 'coordination_start_task', startOf(id), mine), /cannot be started/);
  });

  it('are not found by a caller without the role worker', async () => {
    const { id } = await team.createOne();
    await team.claim(ann);
    const start = (role: 'viewer' | 'worker') =>
      team.app.services.taskQueue.start(team.principal('ann', role), id, { agent_id: ann }, unkeyed);
    await assert.rejects(start('viewer'), { code: 'NOT_FOUND' });
    assert.equal((await team.task(id)).status, 'claimed');
    assert.equal((await start('worker')).status, 'in_progress');
  });
});
