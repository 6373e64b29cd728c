/** The examples of the coordination specification, called as printed, in an order in which they work. */
import assert from 'node:assert/strict';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { RESPONSES } from './support/coordinationResponses.ts';
import { endpointUrl, newAgentName, newWorkspace, tokenOf } from './support/endpoint.ts';
import { assertShape } from './support/shape.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('the examples of the coordination specification', () => {
  // An id that ends as registration's do is nobody's to choose.
  const agent = `${newAgentName('terminal')}-x`;
  let leader: Connection;
  let model: unknown;
  let login: unknown;

  before(async () => {
    const url = endpointUrl('/coordination', { workspace: newWorkspace('examples') });
    leader = await connect('client 2026-07-28', url, await tokenOf('leader'));
  });
  after(() => leader?.close());

  /** Calls a tool and holds its answer against the printed one. */
  async function answered(
    tool: keyof typeof RESPONSES,
    args: Fields = {},
    example: unknown = RESPONSES[tool],
  ): Promise<Fields> {
    const { isError, text, structured } = await leader.call(tool, args);
    assert.equal(isError, false, text);
    assertShape(structured, example, tool);
    return structured;
  }

  async function succeeds(tool: string, args: Fields): Promise<void> {
    const { structured, text } = await leader.call(tool, args);
    assert.deepEqual(structured, RESPONSES.success, text);
  }

  it('init_coordination', async () => {
    const goal = 'Build a REST API for user management';
    const master_plan = '1. Design data models\n2. Implement endpoints\n3. Add authentication';
    assert.equal((await answered('init_coordination', { goal, master_plan }))['goal'], goal);
  });

  it('create_task', async () => {
    const first = await leader.call('create_task', { description: 'Create User model', priority: 1 });
    model = taskOf(first.structured)['id'];
    const task = taskOf(
      await answered('create_task', {
        description: 'Implement user login endpoint',
        priority: 1,
        dependencies: [model],
        context_files: ['src/auth/login.ts'],
        hints: 'Use JWT for tokens, bcrypt for passwords',
      }),
    );
    const { id: _, created_at: __, ...printed } = RESPONSES.create_task.task;
    for (const [key, value] of Object.entries({ ...printed, dependencies: [model] }))
      assert.deepEqual(task[key], value);
    login = task['id'];
  });

  it('create_tasks_batch', async () => {
    const answer = await answered('create_tasks_batch', {
      tasks: [
        { description: 'Create User model', priority: 1 },
        { description: 'Create login endpoint', priority: 2, dependencies: ['task-1'] },
        { description: 'Create logout endpoint', priority: 3, dependencies: ['task-2'] },
      ],
    });
    assert.equal(answer['created'], 3);
  });

  it('get_status', async () => {
    const { tasks, total_tasks, progress_percent } = await answered('get_status');
    assert.deepEqual(tasks, { available: 5, claimed: 0, in_progress: 0, done: 0, failed: 0 });
    assert.deepEqual([total_tasks, progress_percent], [5, 0]);
  });

  it('register_agent', async () => {
    const { agent: answer } = await answered('register_agent', { agent_id: agent, role: 'worker' });
    assert.ok(isRecord(answer));
    assert.deepEqual([answer['id'], answer['role'], answer['tasks_completed']], [agent, 'worker', 0]);
  });

  it('claim_task, start_task and heartbeat', async () => {
    const { context: _, ...withoutContext } = RESPONSES.claim_task.task;
    const example = { ...RESPONSES.claim_task, task: { ...withoutContext, context: {} } };
    const task = taskOf(await answered('claim_task', { agent_id: agent }, example));
    assert.deepEqual([task['id'], task['status'], task['claimed_by']], [model, 'claimed', agent]);
    await succeeds('start_task', { agent_id: agent, task_id: model });
    await succeeds('heartbeat', { agent_id: agent });
    const known = await leader.call('register_agent', { agent_id: agent, role: 'worker' });
    assertShape(known.structured['agent'], {
      ...RESPONSES.register_agent.agent,
      current_task: 'task-xxx-001',
    });
  });

  it('complete_task, and claim_task of what depended on it', async () => {
    const output = 'Created User model with validation';
    const files = { files_created: ['src/models/user.ts'] };
    await succeeds('complete_task', { agent_id: agent, task_id: model, output, ...files });
    const task = taskOf(await answered('claim_task', { agent_id: agent }));
    assert.equal(task['id'], login);
    assert.deepEqual(task['context'], RESPONSES.create_task.task.context);
    await succeeds('complete_task', {
      agent_id: agent,
      task_id: login,
      output: 'Implemented login endpoint with JWT authentication',
      files_modified: ['src/routes/index.ts'],
      files_created: ['src/auth/login.ts', 'src/auth/jwt.ts'],
    });
    const known = await answered('register_agent', { agent_id: agent, role: 'worker' });
    assert.ok(isRecord(known['agent']) && known['agent']['tasks_completed'] === 2);
  });

  it('fail_task, after which nothing is left to claim', async () => {
    const task = taskOf(
      await answered('claim_task', { agent_id: agent }, { success: true, task: { id: '' } }),
    );
    const failure = { agent_id: agent, task_id: task['id'], error: 'The test database is not reachable' };
    const { structured } = await leader.call('fail_task', failure);
    assert.equal(structured['success'], true);
    const { success, message } = (await leader.call('claim_task', { agent_id: agent })).structured;
    assert.deepEqual({ success, message }, RESPONSES.nothingToClaim);
  });

  it('get_all_tasks', async () => {
    const { tasks } = await answered('get_all_tasks', { status_filter: 'done' });
    assert.ok(Array.isArray(tasks) && tasks.length === 2);
    const { tasks: failed } = (await leader.call('get_all_tasks', { status_filter: 'failed' })).structured;
    assert.ok(Array.isArray(failed) && failed.length === 1);
    const all = (await leader.call('get_all_tasks', {})).structured;
    assert.ok(Array.isArray(all['tasks']) && all['tasks'].length === 5);
  });

  it('get_results', async () => {
    const { results } = await answered('get_results', { task_ids: [model, login] });
    assert.ok(Array.isArray(results) && results.length === 2);
    await answered('get_results', { task_ids: [] });
    await answered('get_results');
  });

  it('add_discovery and get_discoveries', async () => {
    const content = 'Found existing auth middleware in src/middleware/auth.ts - can be reused';
    const discovery = { agent_id: agent, content, tags: ['auth', 'existing-code'] };
    await answered('add_discovery', discovery);
    const { discoveries } = await answered('get_discoveries', { tags: ['auth'], limit: 20 });
    assert.ok(Array.isArray(discoveries) && discoveries.length === 1);
    assert.deepEqual({ ...discoveries[0], id: '', created_at: '' }, { ...discovery, id: '', created_at: '' });
  });

  it('get_master_plan', async () => {
    const plan = await answered('get_master_plan');
    assert.equal(plan['master_plan'], '1. Design data models\n2. Implement endpoints\n3. Add authentication');
  });

  it('the resources show what the tools answer', async () => {
    const read = async (name: string): Promise<unknown> =>
      JSON.parse(await leader.read(`coordination://${name}`));
    assertShape(await read('status'), RESPONSES.get_status, 'status');
    assertShape(await read('tasks'), { tasks: [{ id: '', status: '', priority: 1 }] }, 'tasks');
    assertShape(await read('discoveries'), RESPONSES.get_discoveries, 'discoveries');
    assertShape(await read('master-plan'), RESPONSES.get_master_plan, 'master-plan');
  });

  it('errors say what went wrong', async () => {
    const { isError, structured } = await leader.call('complete_task', {
      agent_id: agent,
      task_id: model,
      output: 'Other',
    });
    assert.equal(isError, true);
    assert.match(String(structured['error']), /done|already/i);
  });
});

function taskOf(answer: Fields): Fields {
  const { task } = answer;
  assert.ok(isRecord(task));
  return task;
}
