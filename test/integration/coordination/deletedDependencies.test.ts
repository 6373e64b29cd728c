/** Tasks whose dependent was deleted by hand. They can still end, and one sweep updates the other dependents. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath, taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer } from './calls.ts';

describe('tasks with a deleted dependent', () => {
  let fixture: AccessFixture;
  let ada: Principal;
  let ann: string;
  let first: string;
  let second: string;

  /** Advances the clock, so that audit entries have different times, and calls a tool. */
  const ask = (tool: string, args: JsonObject) => {
    fixture.pass(1);
    return answer(fixture, tool, args, ada);
  };
  const missing = (path: string) => firestore().doc(path).delete();
  const latest = async (): Promise<string> =>
    Object(await ask('system_getAudit', { thing: `task:${first}`, limit: 1 })).events[0].event_id;

  /** Creates a task `first` with two dependents, and deletes the dependent that was created before `second`. */
  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace: fixture.workspace, access: 'private' }]);
    await fixture.letIn(fixture.workspace, 'ada', 'leader');
    ada = await fixture.person('ada');
    ann = await fixture.join('ann');
    const tasks = [
      { description: 'first', priority: 1 },
      { description: 'gone', dependencies: ['task-1'] },
      { description: 'second', dependencies: ['task-1'] },
    ];
    const created = Object(await ask('coordination_create_tasks_batch', { tasks })).task_ids;
    first = created[0];
    second = created[2];
    await missing(taskPath(created[1]));
  });

  const claim = async () => assert.equal(await fixture.claim(ann), first);
  const begin = async () => {
    await claim();
    await fixture.start(ann, first);
  };

  const MOVES: Readonly<Record<string, readonly [() => Promise<unknown>, string, (string | number)[]]>> = {
    complete_task: [
      async () => {
        await begin();
        await fixture.complete(ann, first);
      },
      'done',
      [0],
    ],
    fail_task: [
      async () => {
        await begin();
        await fixture.fail(ann, first);
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
    'cancel_task with a deleted holder': [
      async () => {
        await claim();
        await missing(agentPath(ann));
        await ask('coordination_cancel_task', { task_id: first });
      },
      'cancelled',
      [1, 'failed'],
    ],
    'release_task with a deleted holder': [
      async () => {
        await claim();
        await missing(agentPath(ann));
        await ask('coordination_release_task', { task_id: first });
      },
      'available',
      [1],
    ],
    'the expired lease of a deleted holder': [
      async () => {
        await claim();
        await missing(agentPath(ann));
        fixture.pass(3600);
        await fixture.sweep();
      },
      'available',
      [1],
    ],
  };

  for (const [move, [make, status, [blockers, failed]]] of Object.entries(MOVES))
    it(`${move} gives the task the status ${status}, and updates the other dependent`, async () => {
      await make();
      assert.equal((await fixture.task(first)).status, status);
      await fixture.sweepStuck();
      const left = await fixture.task(second);
      assert.equal(left.blockers, blockers);
      assert.deepEqual(left.failed_dependencies, failed === undefined ? [] : [first]);
      assert.equal(left.stuck_unsettled, false);
    });

  it('have all stuck dependents updated by one sweep, even if one of these is unreadable', async () => {
    const third = await fixture.createOne({ dependencies: [second] });
    const fourth = await fixture.createOne({ dependencies: [third.id] });
    await missing(taskPath(third.id));
    await ask('coordination_cancel_task', { task_id: first });
    const broken = await fixture.createOne();
    await firestore().doc(taskPath(broken.id)).update({ stuck_unsettled: true, priority: 'soon' });
    const { isBehind, counts } = await fixture.sweepStuck();
    assert.equal(isBehind, false);
    assert.ok((counts['settled'] ?? 0) >= 1, JSON.stringify(counts));
    assert.equal((await fixture.task(second)).stuck_by, first);
    assert.equal((await fixture.task(fourth.id)).blockers, 1);
    await missing(taskPath(broken.id));
  });
});
