/** Search of tasks by words, as the console does it. */
import assert from 'node:assert/strict';
import { tasksWithWord } from '../../../console/src/live/queries.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { taskSearchWord } from '../../../functions/src/toolsets/coordination/rules/taskSearch.ts';
import { answer } from './calls.ts';
import { Team } from './team.ts';

describe('the search of tasks', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  async function found(search: string): Promise<readonly string[]> {
    const { collection, where, orderBy, limit } = tasksWithWord(team.workspace, taskSearchWord(search) ?? '');
    let query = firestore().collection(collection).limit(limit);
    for (const condition of where) query = query.where(...condition);
    for (const order of orderBy) query = query.orderBy(...order);
    return (await query.get()).docs.map(({ id }) => id);
  }

  it('finds open, closed and archived tasks of the workspace, newest first', async () => {
    const agentId = await team.join('one');
    const first = await team.createOne({ description: 'Repair the sign-in' });
    assert.equal(await team.claim(agentId), first.id);
    await team.complete(agentId, first.id);
    team.pass(1);
    const second = await team.createOne({ description: 'Signs of wear' });
    await answer(team, 'coordination_cancel_task', { task_id: second.id });
    await answer(team, 'coordination_init_coordination', { goal: 'Another', master_plan: 'Begin again' });
    team.pass(1);
    const third = await team.createOne({ description: 'Design the significant parts' });
    assert.deepEqual(await found('sign'), [third.id, second.id, first.id]);
    assert.deepEqual(await found(first.id), [first.id]);
    const elsewhere = new Team();
    await elsewhere.createOne({ description: 'Sign here' });
    assert.equal((await found('SIGN')).length, 3);
  });

  it('finds a task by its new description, and an old task once it is closed', async () => {
    const { id: task_id } = await team.createOne({ description: 'Paint the fence' });
    await answer(team, 'coordination_update_task', { task_id, description: 'Repaint the gate' });
    assert.deepEqual([await found('fence'), await found('gate')], [[], [task_id]]);
    // An earlier release stores no words.
    const { words: _, ...stored } = (await firestore().doc(taskPath(task_id)).get()).data() ?? {};
    await firestore().doc(taskPath(task_id)).set(stored);
    assert.deepEqual(await found('gate'), []);
    await answer(team, 'coordination_cancel_task', { task_id });
    assert.deepEqual(await found('gate'), [task_id]);
  });
});
