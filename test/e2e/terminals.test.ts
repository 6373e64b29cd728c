/** Terminals: several agents with one credential and separate tasks, as in the coordination specification. */
import assert from 'node:assert/strict';
import { RESPONSES } from '../support/printedCoordination.ts';
import { assertShape } from '../support/shape.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';

/** Number of tasks without dependencies. Each one is the start of a chain of four tasks. */
const ROOTS = 15;
const DEPTH = 4;

describe('terminals with the credential of one worker', () => {
  const query = { workspace: newWorkspace('terminals') };
  let leader: Connection;
  let worker: Connection;

  before(async () => {
    leader = await connect('client 2026-07-28', endpointUrl('/coordination', query), await tokenOf('leader'));
    await succeed(leader, 'init_coordination', { goal: 'Share one credential' });
    worker = await connect('sdk 1.x', endpointUrl('/coordination', query), await tokenOf('worker1'));
  });
  after(() => Promise.all([leader?.close(), worker?.close()]));

  it('can make the calls that the coordination specification prints', async () => {
    await succeed(leader, 'create_task', { description: 'Create user model' });
    const { agent } = await succeed(worker, 'register_agent', { agent_id: 'terminal-2', role: 'worker' });
    assert.ok(isRecord(agent));
    assertShape(agent, RESPONSES.register_agent.agent, 'register_agent');
    const { task } = await succeed(worker, 'claim_task', { agent_id: 'terminal-2' });
    assert.ok(isRecord(task));
    assert.equal(task['claimed_by'], agent['id']);
    const task_id = task['id'];
    await succeed(worker, 'start_task', { agent_id: 'terminal-2', task_id });
    await succeed(worker, 'heartbeat', { agent_id: 'terminal-2' });
    const content = 'The API uses JWT';
    await succeed(worker, 'add_discovery', { agent_id: 'terminal-2', content, tags: ['auth'] });
    await succeed(worker, 'complete_task', {
      agent_id: 'terminal-2',
      task_id,
      output: 'Created the model',
      files_created: ['src/models/user.ts'],
    });
    await succeed(leader, 'create_task', { description: 'To fail' });
    const { task: second } = await succeed(worker, 'claim_task', { agent_id: 'terminal-2' });
    assert.ok(isRecord(second));
    const failing = { agent_id: 'terminal-2', task_id: second['id'], error: 'Missing dependency: bcrypt' };
    await succeed(worker, 'fail_task', failing);
  });

  it('can be used only with the credential with which they were registered', async () => {
    const other = await connect('client 2026-07-28', endpointUrl('/coordination', query), await tokenOf('worker2'));
    try {
      const refusals = [];
      for (const agent_id of ['terminal-2', 'terminal-never-registered']) {
        const { isError, text } = await other.call('claim_task', { agent_id });
        assert.equal(isError, true, text);
        refusals.push(text.replaceAll(agent_id, 'x'));
      }
      assert.equal(refusals[0], refusals[1]);
      // A registration of the same name with another credential creates another agent.
      const { agent } = await succeed(other, 'register_agent', { agent_id: 'terminal-2', role: 'worker' });
      assert.ok(isRecord(agent));
      const { agent: first } = await succeed(worker, 'register_agent', { agent_id: 'terminal-2', role: 'worker' });
      assert.ok(isRecord(first));
      assert.notEqual(agent['id'], first['id']);
    } finally {
      await other.close();
    }
  });

  it('complete a graph of 60 tasks concurrently, and never claim the same task twice', async () => {
    const tasks = Array.from({ length: ROOTS }, (_, root) =>
      Array.from({ length: DEPTH }, (_, depth) => ({
        description: `Root ${root}, step ${depth}`,
        dependencies: depth === 0 ? [] : [`task-${root * DEPTH + depth}`],
      })),
    ).flat();
    assert.equal(tasks.length, 60);
    await succeed(leader, 'create_tasks_batch', { tasks });
    const done = new Map<string, string>();
    const terminal = async (agent_id: string): Promise<void> => {
      await succeed(worker, 'register_agent', { agent_id, role: 'worker' });
      for (;;) {
        const { success, task, reason } = await succeed(worker, 'claim_task', { agent_id });
        if (success !== true) {
          if (reason === 'none') return;
          continue;
        }
        assert.ok(isRecord(task));
        const task_id = String(task['id']);
        assert.ok(!done.has(task_id), `${task_id} was given to ${agent_id} after ${done.get(task_id)}`);
        done.set(task_id, agent_id);
        await succeed(worker, 'start_task', { agent_id, task_id });
        await succeed(worker, 'complete_task', { agent_id, task_id, output: `by ${agent_id}` });
      }
    };
    await Promise.all(['terminal-3', 'terminal-4', 'terminal-5'].map(terminal));
    assert.equal(done.size, 60);
    assert.equal(new Set(done.values()).size, 3, 'every terminal completes some tasks');
    const { results } = await succeed(leader, 'get_results');
    assert.ok(Array.isArray(results));
    for (const result of results.filter(isRecord)) {
      const by = done.get(String(result['task_id']));
      if (by !== undefined) assert.match(JSON.stringify(result['result']), new RegExp(`by ${by}`));
    }
  });
});
