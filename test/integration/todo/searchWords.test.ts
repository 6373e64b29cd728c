/** Search words that an earlier release stored are rewritten, by two walks. */
import assert from 'node:assert/strict';
import { searchWordsPart } from '../../../functions/src/composition/searchWords.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { skillPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { FirestoreSweepRecord } from '../../../functions/src/toolsets/system/store/metrics.ts';
import { answer } from '../coordination/calls.ts';
import { silent, Team, unkeyed } from '../coordination/team.ts';

const HOUR = 3_600_000;

describe('the search words of earlier releases', function () {
  this.timeout(120_000);

  it('are rewritten by a walk, by a second one an hour later, and by none after that', async () => {
    const team = new Team();
    const owner = team.leader.ownerUid;
    const database = firestore();
    const { id } = await team.app.services.todos.add(owner, { title: '明日の会議を準備する' }, unkeyed);
    const found = async () => (await answer(team, 'todo_search_tasks', { query: '会議' }))['total'];
    const spoil = () =>
      database.doc(todoPath(id)).update({ 'index.words': { title: {}, rest: {}, any: {} } });
    const skillId = `capability.test-${team.workspace}`;
    const skill = { id: skillId, workspace: team.workspace, name: '画像の生成', category: 'x' };
    await team.app.ports.store.commit([
      { kind: 'offerSkill', skill: { ...skill, version: '1', author: 'a' }, agents: 1 },
    ]);
    const prefixes = async () => (await database.doc(skillPath(skillId)).get()).get('prefixes');
    await database.doc(skillPath(skillId)).update({ prefixes: ['画'] });

    const repaired: string[] = [];
    const part = searchWordsPart({
      database,
      record: new FirestoreSweepRecord({ database, sweep: `words-${team.workspace}`, log: silent }),
      log: silent,
      repairTodo: async (todoId) => {
        repaired.push(todoId);
        // The to-dos of other tests are theirs.
        if (todoId === id) await team.app.services.repairTodo(todoId, undefined);
      },
    });
    const presence = Promise.resolve('trusted' as const);
    const turn = async (milliseconds: number, most = Number.POSITIVE_INFINITY) => {
      repaired.length = 0;
      const now = new Date(team.now.getTime() + milliseconds);
      let asked = 0;
      await part.run({ now, from: undefined, presence, isOver: () => ++asked > most });
      return repaired.includes(id);
    };

    await spoil();
    assert.equal(await found(), 0);
    assert.equal(await turn(0, 0), false);
    for (let turns = 0; turns < 200 && !(await turn(60_000, 20)); turns++);
    assert.equal(await found(), 1);
    await turn(120_000);
    assert.ok((await prefixes()).includes('生成'));

    await spoil();
    assert.equal(await turn(HOUR / 2), false);
    assert.equal(await turn(HOUR + 1000), true);
    assert.equal(await found(), 1);
    await spoil();
    assert.equal(await turn(3 * HOUR), false);
  });
});
