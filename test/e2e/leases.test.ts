/** Leases that run out: two sweeps at once, results that come late, epochs that fence. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { sweepUntil, tick } from './support/emulator.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

const heldTask = z.looseObject({
  id: z.string(),
  claim_epoch: z.number(),
  lease_expires_at: z.iso.datetime(),
});
type HeldTask = z.output<typeof heldTask>;

/** Long enough for a busy machine to get a heartbeat through. */
const LIVE_LEASE_SECONDS = 4;
const BETWEEN_BEATS_MS = 300;

describe('leases', () => {
  const open: Connection[] = [];
  let url: string;
  let leader: Connection;

  beforeEach(async () => {
    url = endpointUrl('/coordination', { workspace: newWorkspace('leases') });
    leader = await opened(await tokenOf('leader'));
  });
  afterEach(() => Promise.all(open.splice(0).map((connection) => connection.close())));

  async function opened(token: string): Promise<Connection> {
    const connection = await connect('client 2026-07-28', url, token);
    open.push(connection);
    return connection;
  }

  /** An agent in the workspace, with its client. */
  async function joined(label: string): Promise<{ agent: TestAgent; client: Connection }> {
    const agent = await registerAgent(label);
    const client = await opened(agent.token);
    await succeed(client, 'register_agent', { agent_id: agent.id, role: 'worker' });
    return { agent, client };
  }

  async function createTasks(count: number): Promise<void> {
    const tasks = Array.from({ length: count }, (_, n) => ({ description: `Task ${n}` }));
    await succeed(leader, 'create_tasks_batch', { tasks });
  }

  async function claim(client: Connection, agent: TestAgent, lease_seconds: number): Promise<HeldTask> {
    return heldTask.parse(
      (await succeed(client, 'claim_task', { agent_id: agent.id, lease_seconds }))['task'],
    );
  }

  /** Sweeps until nobody holds the task any more. */
  function released(task: HeldTask): Promise<unknown> {
    return sweepUntil(
      `${task.id} is available`,
      async () => (await taskNow(task.id))['status'] === 'available' || undefined,
    );
  }

  async function taskNow(id: string): Promise<Readonly<Record<string, unknown>>> {
    const tasks = await everyItem(leader, 'get_all_tasks', 'tasks');
    const found = tasks.find((task) => isRecord(task) && task['id'] === id);
    assert.ok(isRecord(found));
    return found;
  }

  it('are released once, however many sweeps run at once', async () => {
    await createTasks(4);
    const workers = [await joined('lapse-1'), await joined('lapse-2'), await joined('lapse-3')];
    const held = await Promise.all(workers.map(({ client, agent }) => claim(client, agent, 1)));
    await eventually('every lease has run out', async () => {
      const lapsed = held.every((task) => Date.parse(task.lease_expires_at) + 1000 < Date.now());
      return lapsed || undefined;
    });
    await Promise.all([tick('sweep'), tick('sweep'), tick('sweep')]);
    await Promise.all(held.map(released));
    await Promise.all([tick('sweep'), tick('sweep')]);

    const status = await succeed(leader, 'get_status');
    assert.deepEqual(status['tasks'], { available: 4, claimed: 0, in_progress: 0, done: 0, failed: 0 });
    for (const { agent } of workers) {
      const known = (await succeed(leader, 'register_agent', { agent_id: agent.id, role: 'worker' }))[
        'agent'
      ];
      assert.ok(isRecord(known) && known['current_task'] === null);
    }
    const again = await Promise.all(workers.map(({ client, agent }) => claim(client, agent, 600)));
    assert.equal(new Set(again.map((task) => task.id)).size, 3);
    for (const task of again) {
      const before = held.find((one) => one.id === task.id);
      assert.equal(task.claim_epoch, before === undefined ? 1 : 2);
    }
  });

  it('stand for as long as their holder shows itself', async () => {
    await createTasks(1);
    const { agent, client } = await joined('alive');
    const task = await claim(client, agent, LIVE_LEASE_SECONDS);
    await heartbeatsUntil(
      sweepUntil('the lease is renewed', async () => {
        const { lease_expires_at } = await taskNow(task.id);
        return String(lease_expires_at) > task.lease_expires_at || undefined;
      }),
      () => succeed(client, 'heartbeat', { agent_id: agent.id }),
    );
    const now = await taskNow(task.id);
    assert.deepEqual([now['status'], now['claimed_by'], now['claim_epoch']], ['claimed', agent.id, 1]);
    await succeed(client, 'complete_task', {
      agent_id: agent.id,
      task_id: task.id,
      output: 'In my own time',
    });
  });

  it('that ran out still let their holder finish while nobody else has claimed', async () => {
    await createTasks(1);
    const { agent, client } = await joined('slow');
    const task = await claim(client, agent, 1);
    await released(task);
    const report = {
      agent_id: agent.id,
      task_id: task.id,
      output: 'Late, but first',
      claim_epoch: task.claim_epoch,
    };
    assert.deepEqual(await succeed(client, 'complete_task', report), { success: true });
    const now = await taskNow(task.id);
    assert.deepEqual([now['status'], now['claimed_by']], ['done', agent.id]);
  });

  it("keep a late result beside the new holder's, and tell both", async () => {
    await createTasks(1);
    const [slow, quick] = [await joined('slow'), await joined('quick')];
    const first = await claim(slow.client, slow.agent, 1);
    await released(first);
    const second = await claim(quick.client, quick.agent, 600);
    assert.deepEqual([second.id, second.claim_epoch], [first.id, first.claim_epoch + 1]);

    const task_id = first.id;
    const late = await succeed(slow.client, 'complete_task', {
      agent_id: slow.agent.id,
      task_id,
      output: 'Too late',
    });
    assert.equal(late['success'], false);
    assert.match(String(late['message']), new RegExp(`lapsed.*${quick.agent.id}`));
    assertLateResult(late['late_result'], slow.agent);

    const started = await succeed(quick.client, 'start_task', { agent_id: quick.agent.id, task_id });
    assertLateResult(started['late_result'], slow.agent);
    const done = await succeed(quick.client, 'complete_task', {
      agent_id: quick.agent.id,
      task_id,
      output: 'On time',
    });
    assert.equal(done['success'], true);
    assertLateResult(done['late_result'], slow.agent);

    const now = await taskNow(task_id);
    assert.deepEqual(
      [now['status'], now['claimed_by'], now['result']],
      ['done', quick.agent.id, { output: 'On time' }],
    );
    assertLateResult(now['late_result'], slow.agent);
    const status = await succeed(leader, 'get_status');
    assert.deepEqual(status['tasks'], { available: 0, claimed: 0, in_progress: 0, done: 1, failed: 0 });
  });

  it('fence: the epoch of an earlier claim never overwrites a later one', async () => {
    await createTasks(1);
    const { agent, client } = await joined('again');
    const first = await claim(client, agent, 1);
    await released(first);
    const second = await claim(client, agent, 600);
    const report = { agent_id: agent.id, task_id: first.id, output: 'From before' };
    const stale = await client.call('complete_task', { ...report, claim_epoch: first.claim_epoch });
    assert.notEqual(stale.structured['success'], true);
    assert.equal((await taskNow(first.id))['status'], 'claimed');
    const current = await succeed(client, 'complete_task', {
      ...report,
      output: 'Now',
      claim_epoch: second.claim_epoch,
    });
    assert.equal(current['success'], true);
    assert.deepEqual((await taskNow(first.id))['result'], { output: 'Now' });
  });
});

function assertLateResult(late: unknown, { id }: TestAgent): void {
  assert.ok(isRecord(late), 'there is a late result');
  assert.deepEqual([late['agent_id'], late['claim_epoch'], late['result']], [id, 1, { output: 'Too late' }]);
}

/** Goes on beating while the work lasts, however long one part of it takes. */
async function heartbeatsUntil(work: Promise<unknown>, beat: () => Promise<unknown>): Promise<void> {
  let over = false;
  const ending = work.finally(() => {
    over = true;
  });
  while (!over) await Promise.race([beat().then(() => delay(BETWEEN_BEATS_MS)), ending]);
  await ending;
}
