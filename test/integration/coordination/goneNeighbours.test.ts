/** Tasks whose dependent was deleted by hand: the others can still end, and no sweep repeats itself. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { Town } from '../access/town.ts';
import { answer } from './calls.ts';

describe('tasks with a deleted dependent', () => {
  let town: Town;
  let ada: Principal;
  let ann: string;
  let first: string;
  let second: string;

  /** Advances the clock per call so that audit entries have an order. */
  const ask = (tool: string, args: JsonObject) => {
    town.pass(1);
    return answer(town, tool, args, ada);
  };
  const gone = (path: string) => firestore().doc(path).delete();
  const latest = async (): Promise<string> =>
    Object(await ask('system_getAudit', { thing: `task:${first}`, limit: 1 })).events[0].event_id;

  /** The first task has two dependents; the one created between is deleted. */
  beforeEach(async () => {
    town = new Town();
    await town.arrive('ada', 'leader');
    await town.app.kernel.store.commit([
      { kind: 'nameWorkspace', workspace: town.workspace, access: 'private' },
    ]);
    await town.letIn(town.workspace, 'ada', 'leader');
    ada = await town.person('ada');
    ann = await town.join('ann');
    const tasks = [
      { description: 'first', priority: 1 },
      { description: 'gone', dependencies: ['task-1'] },
      { description: 'second', dependencies: ['task-1'] },
    ];
    const created = Object(await ask('coordination_create_tasks_batch', { tasks })).task_ids;
    first = created[0];
    second = created[2];
    await gone(taskPath(created[1]));
  });

  const claim = async () => assert.equal(await town.claim(ann), first);
  const begin = async () => {
    await claim();
    await town.start(ann, first);
  };

  const MOVES: Readonly<Record<string, readonly [() => Promise<unknown>, string, (string | number)[]]>> = {
    complete_task: [
      async () => {
        await begin();
        await town.complete(ann, first);
      },
      'done',
      [0],
    ],
    fail_task: [
      async () => {
        await begin();
        await town.fail(ann, first);
      },
      'failed',
      [1, 'failed'],
    ],
    cancel_task: [() => ask('coordination_cancel_task', { task_id: first }), 'cancelled', [1, 'failed']],
    retry_task: [
      async () => {
        await ask('coordination_cancel_task', { task_id: first });
        await ask('coordination_retry_task', { task_id: first });
      },
      'available',
      [1],
    ],
    'undo of cancel_task': [
      async () => {
        await ask('coordination_cancel_task', { task_id: first });
        await ask('system_undo', { event_id: await latest() });
      },
      'available',
      [1],
    ],
    'undo of retry_task': [
      async () => {
        await ask('coordination_cancel_task', { task_id: first });
        await ask('coordination_retry_task', { task_id: first });
        await ask('system_undo', { event_id: await latest() });
      },
      'cancelled',
      [1, 'failed'],
    ],
    'cancel_task after its holder is gone': [
      async () => {
        await claim();
        await gone(agentPath(ann));
        await ask('coordination_cancel_task', { task_id: first });
      },
      'cancelled',
      [1, 'failed'],
    ],
    'release_task after its holder is gone': [
      async () => {
        await claim();
        await gone(agentPath(ann));
        await ask('coordination_release_task', { task_id: first });
      },
      'available',
      [1],
    ],
    'an expired lease after its holder is gone': [
      async () => {
        await claim();
        await gone(agentPath(ann));
        town.pass(3600);
        await town.sweep();
      },
      'available',
      [1],
    ],
  };

  for (const [move, [make, status, [blockers, failed]]] of Object.entries(MOVES))
    it(`${move} leaves the task ${status} and updates the dependents that still exist`, async () => {
      await make();
      assert.equal((await town.task(first)).status, status);
      await town.sweepStuck();
      const left = await town.task(second);
      assert.equal(left.blockers, blockers);
      assert.deepEqual(left.failed_dependencies, failed === undefined ? [] : [first]);
      assert.equal(left.stuck_unsettled, false);
    });

  it('settles stuck tasks in one sweep in spite of an unreadable one', async () => {
    const third = await town.createOne({ dependencies: [second] });
    const fourth = await town.createOne({ dependencies: [third.id] });
    await gone(taskPath(third.id));
    await ask('coordination_cancel_task', { task_id: first });
    const broken = await town.createOne();
    await firestore().doc(taskPath(broken.id)).update({ stuck_unsettled: true, priority: 'soon' });
    const { isBehind, counts } = await town.sweepStuck();
    assert.equal(isBehind, false);
    assert.ok((counts['settled'] ?? 0) >= 1, JSON.stringify(counts));
    assert.equal((await town.task(second)).stuck_by, first);
    assert.equal((await town.task(fourth.id)).blockers, 1);
    await gone(taskPath(broken.id));
  });
});
