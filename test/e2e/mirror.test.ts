/** The mirror of a workspace's queue follows the tasks, whatever order its events come in and however often. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { compose } from '../../functions/src/composition/compose.ts';
import { outsideOf } from '../support/outside.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { deliverTaskWritten, mirrored } from './support/mirror.ts';
import { eventually } from './support/waiting.ts';

describe('the mirror of the queue', () => {
  const workspace = newWorkspace('mirror');
  let leader: Connection;
  let agent: TestAgent;
  let ids: readonly string[];

  before(async () => {
    leader = await connect(
      'client 2026-07-28',
      endpointUrl('/coordination', { workspace }),
      await tokenOf('leader'),
    );
    agent = await registerAgent('mirror', { maxConcurrentTasks: 10 });
    await succeed(leader, 'register_agent', { agent_id: agent.id, role: 'worker' });
    const tasks = [
      { description: 'First', priority: 1 },
      { description: 'Second', priority: 2 },
      { description: 'After the first', dependencies: ['task-1'] },
      { description: 'After the second', dependencies: ['task-2'] },
    ];
    ids = z.array(z.string()).parse((await succeed(leader, 'create_tasks_batch', { tasks }))['task_ids']);
  });
  after(() => leader?.close());

  /** Waits until the mirror shows exactly these tasks, counted from 1. */
  async function shows(...numbers: readonly number[]): Promise<void> {
    const expected = numbers.map((number) => ids[number - 1]).sort();
    await eventually(`the mirror shows ${numbers.join(', ')}`, async () => {
      const seen = [...(await mirrored(workspace))].sort();
      return JSON.stringify(seen) === JSON.stringify(expected) || undefined;
    });
  }

  /** Delivers each task's event twice at once, and then the other way round. */
  async function deliverAll(): Promise<void> {
    // Not all at once: the emulator starts a process for each delivery under way.
    for (const id of [...ids, ...[...ids].reverse()]) {
      await Promise.all([deliverTaskWritten(id), deliverTaskWritten(id)]);
    }
  }

  const inHand: string[] = [];

  /** Claims a task beside those that it has claimed before. */
  async function claimNext(): Promise<string> {
    const answer = await succeed(leader, 'claim_task', { agent_id: agent.id, in_hand: inHand });
    const { id } = z.looseObject({ id: z.string() }).parse(answer['task']);
    inHand.push(id);
    return id;
  }

  function complete(task_id: string): Promise<unknown> {
    return succeed(leader, 'complete_task', { agent_id: agent.id, task_id, output: 'Done' });
  }

  it('shows what can be claimed', async () => {
    await shows(1, 2);
  });

  it('drops what was claimed', async () => {
    assert.equal(await claimNext(), ids[0]);
    await shows(2);
  });

  it('believes no event that comes late or twice', async () => {
    await deliverAll();
    await shows(2);
  });

  it('shows what a finished task has made claimable', async () => {
    await complete(String(ids[0]));
    await shows(2, 3);
  });

  it('ends right when old events come in between changes', async () => {
    const second = claimNext();
    await Promise.all([second, deliverAll()]);
    await Promise.all([complete(await second), deliverAll()]);
    await shows(3, 4);
    await Promise.all([claimNext(), deliverAll()]);
    await Promise.all([claimNext(), deliverAll()]);
    await shows();
  });

  it('ends right when many instances refresh it while the task changes', async () => {
    const { mirrorQueuedTask } = compose(outsideOf()).services;
    const { task } = await succeed(leader, 'create_task', { description: 'Contended' });
    const { id } = z.looseObject({ id: z.string() }).parse(task);
    const refreshMany = () => Promise.all(Array.from({ length: 10 }, () => mirrorQueuedTask(id)));
    await Promise.all([refreshMany(), claimNext(), refreshMany()]);
    await shows();
    assert.ok(!(await mirrored(workspace)).includes(id));
    await Promise.all([refreshMany(), complete(id), refreshMany()]);
    await shows();
  });

  it('takes an event of a task that is gone', async () => {
    await deliverTaskWritten('task-never-there');
    assert.ok(!(await mirrored(workspace)).includes('task-never-there'));
  });
});
