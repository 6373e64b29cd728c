/**
 * A backup of Firestore and the accounts is restored into an empty deployment. Derived data is rebuilt, and agents
 * continue their work. docs/guides/restore.md has the steps.
 */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { realtimeDatabase, taskQueuePath } from '../../functions/src/kernel/realtime/database.ts';
import { runBeside } from '../integration/operator/commands.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect } from './support/clients.ts';
import { PROJECT } from './support/emulator.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { mirrored } from './support/mirror.ts';
import { signUp, type TestPerson } from './support/people.ts';
import { Backup, RestoredDeployment } from './support/restored.ts';
import { eventually } from './support/waiting.ts';

const heldTask = z.looseObject({ id: z.string(), claim_epoch: z.number() });
type HeldTask = z.output<typeof heldTask>;
const foundTask = z.looseObject({ id: z.string(), status: z.string() });
const MINUTE = 60_000;
const SUBSCRIPTION = { subscriptionId: 'queue', database: 'realtime', eventType: 'child_added' };

describe('a restored deployment', function () {
  this.timeout('5m');
  const workspace = newWorkspace('restored');
  const backup = new Backup();
  let deployment: RestoredDeployment;
  let person: TestPerson;
  let leader: Connection;
  let living: TestAgent;
  let dead: TestAgent;
  let [livingTask, deadTask]: HeldTask[] = [];
  let doneId = '';
  let lostId = '';
  let status: unknown;
  let queue: unknown;
  let endpoint = '';
  const open: Connection[] = [];

  async function opened(url: string, token: string): Promise<Connection> {
    const connection = await connect('client 2026-07-28', url, token);
    open.push(connection);
    return connection;
  }

  const restoredUrl = () => `${endpoint}coordination?workspace=${workspace}`;

  async function claim(client: Connection, { id }: TestAgent, lease_seconds = 3600): Promise<HeldTask> {
    const { task } = await succeed(client, 'claim_task', { agent_id: id, lease_seconds });
    return heldTask.parse(task);
  }

  async function finish(client: Connection, { id: agent_id }: TestAgent, task: HeldTask): Promise<void> {
    const { id: task_id, claim_epoch } = task;
    await succeed(client, 'start_task', { agent_id, task_id });
    await succeed(client, 'complete_task', { agent_id, task_id, claim_epoch, output: `${task_id} is done` });
  }

  async function statusOf(id: string): Promise<string | undefined> {
    const tasks = z.array(foundTask).parse(await everyItem(leader, 'get_all_tasks', 'tasks'));
    return tasks.find((task) => task.id === id)?.status;
  }

  before(async () => {
    person = await signUp();
    leader = await opened(endpointUrl('/coordination', { workspace }), await tokenOf('leader'));
    await succeed(leader, 'init_coordination', { goal: 'Survive', master_plan: 'By a backup' });
    const agents = await Promise.all(['living', 'dead', 'done'].map((name) => registerAgent(name)));
    const [one, other, third] = agents;
    assert.ok(one && other && third);
    [living, dead] = [one, other];
    for (const { id } of agents) await succeed(leader, 'register_agent', { agent_id: id, role: 'worker' });
    const tasks = [
      ...[1, 2, 3].map((priority) => ({ description: `Task ${priority}`, priority })),
      { description: 'After the first', priority: 4, dependencies: ['task-1'] },
      { description: 'Free', priority: 5 },
    ];
    await succeed(leader, 'create_tasks_batch', { tasks });
    livingTask = await claim(leader, living);
    deadTask = await claim(leader, dead, 60);
    await succeed(leader, 'start_task', { agent_id: dead.id, task_id: deadTask.id });
    const third3 = await claim(leader, third);
    await finish(leader, third, third3);
    doneId = third3.id;
    await succeed(leader, 'add_discovery', { agent_id: third.id, content: 'It was well before' });
    await eventually('the mirror contains the claimable task', async () =>
      (await mirrored(workspace)).length === 1 ? true : undefined,
    );
    const watcher = await opened(endpointUrl('/firebase'), living.token);
    const path = taskQueuePath(workspace);
    await succeed(watcher, 'firebase_subscribe', { ...SUBSCRIPTION, path });
    queue = (await (await realtimeDatabase()).ref(taskQueuePath(workspace)).get()).val();
    status = await succeed(leader, 'get_status');
    await backup.make();
    const { task } = await succeed(leader, 'create_task', { description: 'Since the backup' });
    lostId = foundTask.parse(task).id;
    deployment = await RestoredDeployment.from(backup);
  });
  after(async () => {
    await Promise.all(open.map((connection) => connection.close()));
    await deployment?.end();
    backup.remove();
  });

  const rebuild = (...more: readonly string[]) =>
    runBeside('rebuild', ['queue', 'counters', 'presence', 'access', ...more, '--project', PROJECT], {
      ...process.env,
      ...deployment.env,
    });

  it('gets derived data, which the backup does not contain, from a rebuild', async () => {
    assert.deepEqual([await deployment.node('presence'), await deployment.node('workspaces')], [null, null]);
    const text = await rebuild();
    assert.match(text, /Tasks without a holder: \d+ checked, [1-9]\d* corrected\./);
    assert.deepEqual(await deployment.node(taskQueuePath(workspace)), queue);
    for (const { id } of [living, dead]) assert.notEqual(await deployment.node(`presence/${id}`), null);
    assert.notEqual(await deployment.node('access/people'), null);
  });

  it('lets people sign in with their passwords', async () => {
    const host = deployment.env['FIREBASE_AUTH_EMULATOR_HOST'];
    const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=emulator`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: person.email, password: person.password, returnSecureToken: true }),
    });
    assert.equal(z.object({ localId: z.string() }).parse(await response.json()).localId, person.uid);
  });

  it('has the state of the backup, and agents continue their tasks with their credentials', async () => {
    endpoint = await deployment.serve('mcp');
    leader = await opened(restoredUrl(), await tokenOf('leader'));
    assert.deepEqual(await succeed(leader, 'get_status'), status);
    assert.equal(await statusOf(lostId), undefined, 'the task that was created after the backup exists');
    assert.equal(await statusOf(doneId), 'done');
    const worker = await opened(restoredUrl(), living.token);
    await finish(worker, living, heldTask.parse(livingTask));
    const next = await claim(worker, living);
    assert.equal(next.claim_epoch, 1);
    await finish(worker, living, next);
  });

  it('reports to pollers of existing subscriptions that events may be missing', async () => {
    const watcher = await opened(`${endpoint}firebase`, living.token);
    const polled = await succeed(watcher, 'firebase_pollEvents', { subscriptionId: 'queue', waitMs: 5000 });
    assert.equal(polled['overflow'], true);
  });

  it('releases the task of an offline agent, but only some minutes after the restore', async () => {
    const sweep = await deployment.serve('sweep');
    const swept = async () => assert.equal((await fetch(sweep, { method: 'POST' })).status, 200);
    const worker = await opened(restoredUrl(), living.token);
    const { id } = heldTask.parse(deadTask);
    deployment.moveTime(2 * MINUTE);
    await succeed(worker, 'heartbeat', { agent_id: living.id });
    await swept();
    assert.equal(await statusOf(id), 'in_progress', 'the task was released, although its agent may still be online');
    deployment.moveTime(7 * MINUTE);
    await succeed(worker, 'heartbeat', { agent_id: living.id });
    await swept();
    assert.equal(await statusOf(id), 'available');
    assert.equal(await deployment.node(`presence/${dead.id}`), null);
  });

  it('loses no task of the backup, and completes no task twice', async () => {
    const worker = await opened(restoredUrl(), living.token);
    for (;;) {
      const { task } = await succeed(worker, 'claim_task', { agent_id: living.id });
      if (task === undefined) break;
      await finish(worker, living, heldTask.parse(task));
    }
    const results = z
      .array(z.looseObject({ task_id: z.string() }))
      .parse(await everyItem(leader, 'get_results', 'results'));
    const ids = results.map(({ task_id }) => task_id);
    assert.deepEqual([ids.length, new Set(ids).size], [5, 5]);
    const { tasks } = z
      .looseObject({ tasks: z.looseObject({ done: z.number() }) })
      .parse(await succeed(leader, 'get_status'));
    assert.equal(tasks.done, 5);
    assert.match(await rebuild('--dry-run'), /Counters of sessions: \d+ checked, 0 to correct/);
  });
});
