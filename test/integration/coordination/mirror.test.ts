/** The mirror of claimable tasks in the Realtime Database: one queue per workspace, `tasks/queue` for `default`. */
import assert from 'node:assert/strict';
import { DEFAULT_WORKSPACE } from '../../../functions/src/identity/rules/principal.ts';
import type { Versioned } from '../../../functions/src/kernel/commit.ts';
import { queuedTaskPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { mirrorQueuedTask } from '../../../functions/src/toolsets/coordination/store/queue.ts';
import { sampleTask, versionOf } from '../../support/builders.ts';
import { Team } from './team.ts';

async function mirrored(taskId: string, workspace = DEFAULT_WORKSPACE): Promise<Record<string, unknown> | null> {
  const database = await realtimeDatabase();
  return (await database.ref(queuedTaskPath(workspace, taskId)).get()).val();
}

describe('the queue mirror', () => {
  it('contains a task while it is claimable', async () => {
    const team = new Team();
    const [task, blocked] = await team.create(
      { description: 'A', priority: 2, required_capabilities: ['coding'] },
      { dependencies: ['task-1'] },
    );
    assert.ok(task && blocked);
    const ann = await team.join('ann', ['coding']);
    const shows = async () => {
      for (const { id } of [task, blocked]) await team.app.services.mirrorQueuedTask(id);
      return Promise.all([task, blocked].map(async ({ id }) => (await mirrored(id, team.workspace)) !== null));
    };
    assert.deepEqual(await shows(), [true, false]);
    assert.deepEqual(await mirrored(task.id, team.workspace), {
      id: task.id,
      type: 'coordination',
      priority: 'critical',
      description: 'A',
      workspace: team.workspace,
      required_capabilities: ['coding'],
      created_at: team.now.toISOString(),
    });
    assert.equal(await mirrored(task.id), null, 'the queue of the default workspace does not contain the task');
    await team.claim(ann);
    assert.deepEqual(await shows(), [false, false]);
    team.pass(3600);
    await team.sweep();
    assert.deepEqual(await shows(), [true, false], 'after the release');
    await team.claim(ann);
    await team.complete(ann, task.id);
    assert.deepEqual(await shows(), [false, true], 'after the completion');
    await team.claim(ann);
    await team.fail(ann, blocked.id, true);
    assert.deepEqual(await shows(), [false, false], 'while the task waits for its retry');
  });

  it('removes the entry of a task that does not exist', async () => {
    const { app } = new Team();
    const { id } = sampleTask({ id: 'task-gone-001' });
    const database = await realtimeDatabase();
    for (const workspace of ['default', 'alpha']) {
      await database.ref(queuedTaskPath(workspace, id)).set({ id });
      await app.services.mirrorQueuedTask(id, { workspace });
      assert.equal(await mirrored(id, workspace), null);
    }
  });

  it('has the latest state of a task after concurrent events that arrive out of order', async () => {
    const team = new Team();
    const task = await team.createOne();
    const ann = await team.join('ann');
    const instances = Array.from({ length: 10 }, () => team.anotherInstance());
    const refreshed = () => Promise.all(instances.map((one) => one.services.mirrorQueuedTask(task.id)));
    for (const change of [() => team.claim(ann), () => team.complete(ann, task.id)]) {
      await Promise.all([refreshed(), change(), refreshed()]);
      await team.app.services.mirrorQueuedTask(task.id); // The last event, which arrives after the change.
      assert.equal(await mirrored(task.id, team.workspace), null);
    }
  });

  it('is updated once more if the task changes during an update', async () => {
    const id = `task-${new Team().workspace}`;
    const states: Versioned<Task>[] = [
      versionOf(sampleTask({ id }), '1.0'),
      versionOf(sampleTask({ id, description: 'Changed since' }), '2.0'),
      versionOf(sampleTask({ id, description: 'Changed since' }), '2.0'),
    ];
    const reader = { find: async () => states.shift() };
    await mirrorQueuedTask(realtimeDatabase, reader, id);
    assert.equal((await mirrored(id, sampleTask({}).workspace))?.['description'], 'Changed since');
    assert.equal(states.length, 0);
  });

  it('reports an error if the task changes again during every attempt to mirror it', async () => {
    const id = `task-${new Team().workspace}`;
    let version = 0;
    const reader = {
      find: async () => {
        version++;
        return versionOf(sampleTask({ id }), `${version}.0`);
      },
    };
    await assert.rejects(mirrorQueuedTask(realtimeDatabase, reader, id), /changed during each attempt to mirror it/);
  });
});
