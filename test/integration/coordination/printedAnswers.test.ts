/** Every field of the answers that the coordination specification prints is there, in the words and types printed. */
import assert from 'node:assert/strict';
import type { JsonObject, JsonValue } from '../../../functions/src/kernel/json.ts';
import { answer, call } from './calls.ts';
import { Team } from './team.ts';

const TIME = '2024-01-15T10:30:00.000Z';

/** Whether all that is printed is in the answer, with values of the same kind. */
function assertPrinted(printed: JsonValue, actual: unknown, at = 'answer'): void {
  if (printed === null || typeof printed !== 'object') {
    assert.equal(actual === null ? 'null' : typeof actual, printed === null ? 'null' : typeof printed, at);
    if (printed === TIME) assert.match(String(actual), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, at);
    return;
  }
  assert.ok(typeof actual === 'object' && actual !== null, `${at} is missing`);
  assert.equal(Array.isArray(actual), Array.isArray(printed), at);
  for (const [name, value] of Object.entries(printed)) {
    if (value !== undefined) assertPrinted(value, Reflect.get(actual, name), `${at}.${name}`);
  }
}

describe('the answers that the specification prints', () => {
  let team: Team;
  let ann: string;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  async function prints(name: string, rawArguments: JsonObject, printed: JsonObject): Promise<JsonObject> {
    const answered = await answer(team, `coordination_${name}`, rawArguments);
    assertPrinted(printed, answered, name);
    return answered;
  }

  it('begin a coordination', async () => {
    const rawArguments = { goal: 'Build a REST API', master_plan: '1. Design data models' };
    const answered = await prints('init_coordination', rawArguments, {
      success: true,
      goal: 'x',
      created_at: TIME,
    });
    assert.deepEqual(answered, {
      success: true,
      goal: 'Build a REST API',
      created_at: team.now.toISOString(),
    });
    const plan = await prints('get_master_plan', {}, { goal: 'x', master_plan: 'x', created_at: TIME });
    assert.equal(plan['master_plan'], '1. Design data models');
  });

  it('create tasks', async () => {
    const before = await team.createOne();
    const rawArguments = {
      description: 'Implement user login endpoint',
      priority: 1,
      dependencies: [before.id],
      context_files: ['src/auth/login.ts'],
      hints: 'Use JWT for tokens',
    };
    const { task } = await prints('create_task', rawArguments, {
      success: true,
      task: {
        id: 'task-xxx-002',
        description: 'x',
        status: 'available',
        priority: 1,
        dependencies: ['task-xxx-001'],
        context: { files: ['src/auth/login.ts'], hints: 'x' },
        created_at: TIME,
      },
    });
    assert.ok(task !== null && typeof task === 'object' && 'status' in task);
    assert.equal(task.status, 'available', 'also while it is blocked');
    const batch = { tasks: [{ description: 'A' }, { description: 'B', dependencies: ['task-1'] }] };
    const printed = { success: true, created: 2, task_ids: ['task-xxx-001', 'task-xxx-002'] };
    assert.equal((await prints('create_tasks_batch', batch, printed))['created'], 2);
  });

  it('register, claim, work and share', async () => {
    await prints(
      'register_agent',
      { agent_id: ann, role: 'worker' },
      {
        success: true,
        agent: { id: 'x', role: 'worker', last_heartbeat: TIME, current_task: null, tasks_completed: 0 },
      },
    );
    const nothing = { success: false, message: 'No available tasks with satisfied dependencies' };
    const { reason, explanation, ...printed } = await answer(team, 'coordination_claim_task', {
      agent_id: ann,
    });
    assert.deepEqual(printed, nothing);
    assert.equal(reason, 'no_goal');
    assert.ok(typeof explanation === 'string');
    const { id } = await team.createOne({ files: ['src/auth/login.ts'], hints: 'Use JWT' });
    await prints(
      'claim_task',
      { agent_id: ann },
      {
        success: true,
        task: {
          id: 'task-xxx-002',
          description: 'x',
          status: 'claimed',
          priority: 1,
          claimed_by: 'terminal-2',
          claimed_at: TIME,
          context: { files: ['src/auth/login.ts'], hints: 'x' },
        },
      },
    );
    const done = { success: true };
    assert.deepEqual(await prints('start_task', { agent_id: ann, task_id: id }, done), done);
    assert.deepEqual(await prints('heartbeat', { agent_id: ann }, done), done);
    const report = { agent_id: ann, task_id: id, output: 'Made it', files_created: ['a.ts'] };
    assert.deepEqual(await prints('complete_task', report, done), done);
    const discovery = { id: 'uuid-xxx', agent_id: 'x', content: 'x', tags: ['auth'], created_at: TIME };
    const said = { agent_id: ann, content: 'Found it', tags: ['auth', 'existing-code'] };
    await prints('add_discovery', said, { success: true, discovery });
    await prints('get_discoveries', { tags: ['auth'] }, { discoveries: [discovery] });
    await prints(
      'get_all_tasks',
      {},
      {
        tasks: [
          {
            id: 'x',
            description: 'x',
            status: 'done',
            priority: 1,
            claimed_by: 'x',
            result: { output: 'x' },
          },
        ],
      },
    );
    const result = { output: 'x', files_created: ['src/models/user.ts'] };
    await prints(
      'get_results',
      {},
      { results: [{ task_id: 'x', description: 'x', result, completed_at: TIME }] },
    );
  });

  it('tell the status, with the floor of the progress', async () => {
    await answer(team, 'coordination_init_coordination', { goal: 'Build a REST API' });
    await team.create({}, {}, {});
    await team.claim(ann);
    await team.complete(ann, (await team.tasks())[0]?.id ?? '');
    await answer(team, 'coordination_add_discovery', { agent_id: ann, content: 'x' });
    await answer(team, 'coordination_register_agent', { agent_id: team.agentId('lead'), role: 'leader' });
    const { blocked_tasks, ...printed } = await answer(team, 'coordination_get_status', {});
    assert.equal(blocked_tasks, 0);
    assert.deepEqual(printed, {
      goal: 'Build a REST API',
      tasks: { available: 2, claimed: 0, in_progress: 0, done: 1, failed: 0 },
      total_tasks: 3,
      progress_percent: 33,
      agents: { total: 2, leaders: 1, workers: 1, active: 2 },
      discoveries_count: 1,
      last_activity: team.now.toISOString(),
    });
  });

  it('tell a failure', async () => {
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    await team.claim(ann);
    const report = { agent_id: ann, task_id: first?.id ?? '', error: 'It broke' };
    const answered = await prints('fail_task', report, { success: true });
    assert.deepEqual(answered, { success: true, blocked_tasks: [second?.id] });
    const { structuredContent } = await call(team, 'coordination_start_task', {
      agent_id: ann,
      task_id: 'task-xxx-404',
    });
    assert.deepEqual(Object.keys(structuredContent), ['error']);
  });

  it('tell that a late report was kept, to both', async () => {
    const bob = await team.join('bob');
    const { id } = await team.createOne();
    await team.claim(ann, 60);
    team.pass(61);
    await team.sweep();
    await team.claim(bob);
    const late = await answer(team, 'coordination_complete_task', {
      agent_id: ann,
      task_id: id,
      output: 'Mine',
    });
    assert.equal(late['success'], false);
    assert.match(
      String(late['message']),
      new RegExp(`Your lease had lapsed and the task is now claimed by "${bob}"`),
    );
    const report = { agent_id: bob, task_id: id, output: 'His' };
    const printed = {
      success: true,
      late_result: { agent_id: 'x', claim_epoch: 1, received_at: TIME, result: { output: 'x' } },
    };
    await prints('complete_task', report, printed);
  });
});
