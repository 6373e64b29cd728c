/** Responses that the coordination specification prints: each field must have the printed type. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { RESPONSES } from '../../support/printedCoordination.ts';
import { assertShape } from '../../support/shape.ts';
import { answer, call } from './calls.ts';
import { Team } from './team.ts';

describe('the responses that the coordination specification prints', () => {
  let team: Team;
  let ann: string;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  async function prints(name: string, args: JsonObject, printed: JsonObject): Promise<JsonObject> {
    const answered = await answer(team, `coordination_${name}`, args);
    assertShape(answered, printed, name);
    return answered;
  }

  /** Calls a tool, and compares the response with the printed response of the same tool. */
  const printed = (name: keyof typeof RESPONSES, args: JsonObject = {}) => prints(name, args, RESPONSES[name]);

  it('match the actual response to each call of a job, from the goal to the results', async () => {
    const goal = 'Build a REST API for user management';
    const master_plan = '1. Design data models\n2. Implement endpoints';
    const started = await printed('init_coordination', { goal, master_plan });
    assert.deepEqual(started, { success: true, goal, created_at: team.now.toISOString() });
    assert.equal((await printed('get_master_plan'))['master_plan'], master_plan);

    const first = Object((await answer(team, 'coordination_create_task', FIRST))['task']);
    const { task } = await printed('create_task', { ...LOGIN, dependencies: [first.id] });
    const { id: _, created_at: __, ...login } = RESPONSES.create_task.task;
    const { id, created_at: ___, ...made } = Object(task);
    assert.deepEqual(
      made,
      { ...login, dependencies: [first.id], blocked: true },
      'the status is available although the task is blocked',
    );
    team.pass(1); // Gives the batch a later creation time, which orders the queue.
    assert.equal((await printed('create_tasks_batch', { tasks: BATCH }))['created'], 3);

    const registered = await printed('register_agent', { agent_id: ann, role: 'worker' });
    assert.equal(Object(registered['agent']).id, ann);
    const claimed = Object((await printed('claim_task', { agent_id: ann }))['task']);
    assert.deepEqual([claimed.id, claimed.status, claimed.claimed_by], [first.id, 'claimed', ann]);
    const mine = { agent_id: ann, task_id: first.id };
    for (const [tool, args] of [
      ['start_task', mine],
      ['heartbeat', { agent_id: ann }],
      ['complete_task', { ...mine, output: 'Created User model', files_created: ['src/models/user.ts'] }],
    ] as const)
      assert.deepEqual(await prints(tool, args, RESPONSES.success), RESPONSES.success, tool);

    const next = Object((await printed('claim_task', { agent_id: ann }))['task']);
    assert.deepEqual([next.id, next.context], [id, login.context]);
    const failed = { agent_id: ann, task_id: id ?? '', error: 'The test database is not reachable' };
    await prints('fail_task', failed, RESPONSES.success);
    await printed('get_all_tasks', { status_filter: 'done' });
    await printed('get_results', { task_ids: [first.id] });
    await printed('get_results');

    const discovery = { agent_id: ann, content: 'Found existing auth middleware', tags: ['auth', 'existing-code'] };
    await printed('add_discovery', discovery);
    const { discoveries } = await printed('get_discoveries', { tags: ['auth'], limit: 20 });
    const [found, ...more] = Object(discoveries);
    assert.deepEqual([{ ...found, id: '', created_at: '' }, more], [{ ...discovery, id: '', created_at: '' }, []]);
  });

  it('match the response of claim_task if no task is claimable', async () => {
    const { reason, explanation, ...rest } = await answer(team, 'coordination_claim_task', { agent_id: ann });
    assert.deepEqual(rest, RESPONSES.nothingToClaim);
    assert.equal(reason, 'no_goal');
    assert.ok(typeof explanation === 'string');
  });

  it('match the response of get_status, with the progress rounded down', async () => {
    await answer(team, 'coordination_init_coordination', { goal: 'Build a REST API' });
    await team.create({}, {}, {});
    await team.claim(ann);
    await team.complete(ann, (await team.tasks())[0]?.id ?? '');
    await answer(team, 'coordination_add_discovery', { agent_id: ann, content: 'x' });
    await answer(team, 'coordination_register_agent', { agent_id: team.agentId('lead'), role: 'leader' });
    const { blocked_tasks, ...rest } = await printed('get_status');
    assert.equal(blocked_tasks, 0);
    assert.deepEqual(rest, {
      goal: 'Build a REST API',
      tasks: { available: 2, claimed: 0, in_progress: 0, done: 1, failed: 0 },
      total_tasks: 3,
      progress_percent: 33,
      agents: { total: 2, leaders: 1, workers: 1, active: 2 },
      discoveries_count: 1,
      last_activity: team.now.toISOString(),
    });
  });

  it('match the response of fail_task with blocked dependents, and the error for an unknown task', async () => {
    const [first, second] = await team.create({}, { dependencies: ['task-1'] });
    await team.claim(ann);
    const report = { agent_id: ann, task_id: first?.id ?? '', error: 'It broke' };
    const answered = await answer(team, 'coordination_fail_task', report);
    assert.deepEqual(answered, { success: true, blocked_tasks: [second?.id] });
    const args = { agent_id: ann, task_id: 'task-xxx-404' };
    const { structuredContent } = await call(team, 'coordination_start_task', args);
    assert.deepEqual(Object.keys(structuredContent), ['error']);
  });

  it('match the responses of complete_task to both agents if one of them reports late', async () => {
    const bob = await team.join('bob');
    const { id } = await team.createOne();
    await team.claim(ann, 60);
    team.pass(61);
    await team.sweep();
    await team.claim(bob);
    const report = (agent_id: string) => ({ agent_id, task_id: id, output: 'Mine' });
    const late = await answer(team, 'coordination_complete_task', report(ann));
    assert.equal(late['success'], false);
    const why = `Your lease expired, and the task is now claimed, held by "${bob}"`;
    assert.match(String(late['message']), new RegExp(why));
    const received_at = RESPONSES.add_discovery.discovery.created_at;
    await prints('complete_task', report(bob), {
      success: true,
      late_result: { agent_id: 'x', claim_epoch: 1, received_at, result: { output: 'x' } },
    });
  });
});

const FIRST = {
  description: 'Create User model',
  priority: 1,
  context_files: ['src/models/user.ts'],
  hints: 'With validation',
};

const LOGIN = {
  description: 'Implement user login endpoint',
  priority: 1,
  context_files: ['src/auth/login.ts'],
  hints: 'Use JWT for tokens, bcrypt for passwords',
};

const BATCH = [
  { description: 'Create User model', priority: 1 },
  { description: 'Create login endpoint', priority: 2, dependencies: ['task-1'] },
  { description: 'Create logout endpoint', priority: 3, dependencies: ['task-2'] },
];
