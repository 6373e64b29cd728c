/**
 * Leases that run out: several sweeps at once, results that come late, epochs that fence. The built functions run in
 * a project of their own, whose time the tests move instead of waiting.
 */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { addCallers, type Caller } from '../../bench/seed.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { Deployment } from './support/delivery/deployment.ts';
import { newWorkspace } from './support/endpoint.ts';

const heldTask = z.looseObject({
  id: z.string(),
  claim_epoch: z.number(),
  lease_expires_at: z.iso.datetime(),
});
type HeldTask = z.output<typeof heldTask>;

interface TestAgent {
  readonly id: string;
}

const LEASE_SECONDS = 60;

/** More than all tests together need. */
const WORKERS = 10;

const SWEEPS_AT_ONCE = 3;

describe('leases', () => {
  const open: Connection[] = [];
  let deployment: Deployment;
  let endpoint: string;
  /** Instances of the schedule. Production has one at a time, but for a deployment. */
  let sweeps: readonly string[];
  let leaderCredential: string;
  let unknownWorkers: Caller[];
  let movedSeconds = 0;
  let url: string;
  let leader: Connection;

  before(async () => {
    deployment = await Deployment.create({ hasBroker: false, pushServiceUrl: '' });
    endpoint = await deployment.urlOf('mcp');
    const starting = Array.from({ length: SWEEPS_AT_ONCE }, () => deployment.start('sweep'));
    sweeps = (await Promise.all(starting)).map((instance) => instance.url);
    const [caller] = await addCallers(deployment, 'leader');
    assert.ok(caller);
    leaderCredential = caller.credential;
    unknownWorkers = await addCallers(deployment, 'worker', WORKERS);
  });
  after(() => deployment?.end());

  beforeEach(async () => {
    url = `${endpoint}coordination?workspace=${newWorkspace('leases')}`;
    leader = await opened(leaderCredential);
  });
  afterEach(() => Promise.all(open.splice(0).map((connection) => connection.close())));

  async function opened(credential: string): Promise<Connection> {
    const connection = await connect('client 2026-07-28', url, credential);
    open.push(connection);
    return connection;
  }

  /** An agent in the workspace, with its client. */
  async function joined(): Promise<{ agent: TestAgent; client: Connection }> {
    const caller = unknownWorkers.pop();
    assert.ok(caller);
    const client = await opened(caller.credential);
    await succeed(client, 'register_agent', { agent_id: caller.agentId, role: 'worker' });
    return { agent: { id: caller.agentId }, client };
  }

  function passTime(seconds: number): void {
    movedSeconds += seconds;
    deployment.moveTime(movedSeconds * 1000);
  }

  /** Runs as many sweeps at once. */
  async function sweep(count = 1): Promise<void> {
    const answers = await Promise.all(sweeps.slice(0, count).map((one) => fetch(one, { method: 'POST' })));
    for (const { status } of answers) assert.equal(status, 200);
  }

  async function createTasks(count: number): Promise<void> {
    const tasks = Array.from({ length: count }, (_, n) => ({ description: `Task ${n}` }));
    await succeed(leader, 'create_tasks_batch', { tasks });
  }

  async function claim(client: Connection, { id }: TestAgent): Promise<HeldTask> {
    const wish = { agent_id: id, lease_seconds: LEASE_SECONDS };
    return heldTask.parse((await succeed(client, 'claim_task', wish))['task']);
  }

  /** Lets the lease run out, and sweeps. */
  async function released(task: HeldTask): Promise<void> {
    passTime(LEASE_SECONDS + 1);
    await sweep();
    assert.equal((await taskNow(task.id))['status'], 'available');
  }

  async function taskNow(id: string): Promise<Readonly<Record<string, unknown>>> {
    const tasks = await everyItem(leader, 'get_all_tasks', 'tasks');
    const found = tasks.find((task) => isRecord(task) && task['id'] === id);
    assert.ok(isRecord(found));
    return found;
  }

  it('are released once, however many sweeps run at once', async () => {
    await createTasks(4);
    const workers = [await joined(), await joined(), await joined()];
    const held = await Promise.all(workers.map(({ client, agent }) => claim(client, agent)));
    await sweep(SWEEPS_AT_ONCE);
    for (const task of held)
      assert.equal((await taskNow(task.id))['status'], 'claimed', 'not before its end');
    passTime(LEASE_SECONDS + 1);
    await sweep(SWEEPS_AT_ONCE);
    await sweep(SWEEPS_AT_ONCE);

    const status = await succeed(leader, 'get_status');
    assert.deepEqual(status['tasks'], { available: 4, claimed: 0, in_progress: 0, done: 0, failed: 0 });
    for (const { agent } of workers) {
      const known = (await succeed(leader, 'register_agent', { agent_id: agent.id, role: 'worker' }))[
        'agent'
      ];
      assert.ok(isRecord(known) && known['current_task'] === null);
    }
    const again = await Promise.all(workers.map(({ client, agent }) => claim(client, agent)));
    assert.equal(new Set(again.map((task) => task.id)).size, 3);
    for (const task of again) {
      const before = held.find((one) => one.id === task.id);
      assert.equal(task.claim_epoch, before === undefined ? 1 : 2);
    }
  });

  it('stand for as long as their holder shows itself', async () => {
    await createTasks(1);
    const { agent, client } = await joined();
    const task = await claim(client, agent);
    passTime(LEASE_SECONDS / 2);
    await succeed(client, 'heartbeat', { agent_id: agent.id });
    passTime(LEASE_SECONDS / 2 + 1);
    await sweep();
    const now = await taskNow(task.id);
    assert.deepEqual([now['status'], now['claimed_by'], now['claim_epoch']], ['claimed', agent.id, 1]);
    assert.ok(String(now['lease_expires_at']) > task.lease_expires_at, 'the lease is renewed');
    await succeed(client, 'complete_task', {
      agent_id: agent.id,
      task_id: task.id,
      output: 'In my own time',
    });
  });

  it('that ran out still let their holder finish while nobody else has claimed', async () => {
    await createTasks(1);
    const { agent, client } = await joined();
    const task = await claim(client, agent);
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
    const [slow, quick] = [await joined(), await joined()];
    const first = await claim(slow.client, slow.agent);
    await released(first);
    const second = await claim(quick.client, quick.agent);
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
    const { agent, client } = await joined();
    const first = await claim(client, agent);
    await released(first);
    const second = await claim(client, agent);
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
