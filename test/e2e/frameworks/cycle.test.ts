/** Agents of three frameworks create, update, claim, start and complete a task. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { endpointUrl, newWorkspace, tokenOf } from '../support/endpoint.ts';
import { type Connected, FRAMEWORKS } from './packages.ts';

for (const [name, connect] of Object.entries(FRAMEWORKS))
  describe(`an agent with the framework ${name}`, () => {
    const agent_id = `framework-${randomUUID().slice(0, 8)}`;
    let leader: Connected;

    before(async () => {
      const url = endpointUrl('', { workspace: newWorkspace('framework'), toolsets: 'todo,coordination' });
      leader = await connect({ url, token: await tokenOf('leader') });
    });
    after(() => leader?.close());

    const call = async (tool: string, args: Readonly<Record<string, unknown>>) => {
      const answer = Object(await leader.call(tool, args));
      assert.equal(answer.success, true, JSON.stringify(answer));
      return answer;
    };

    it('gets the tools of the toolsets coordination and todo under distinct names', () => {
      for (const tool of ['todo_complete_task', 'coordination_complete_task'])
        assert.ok(leader.names.includes(tool), tool);
      assert.equal(new Set(leader.names).size, leader.names.length);
    });

    it('creates, updates, claims, starts and completes a task', async () => {
      await call('coordination_init_coordination', { goal: 'Try a framework', master_plan: '1. Try it' });
      const deadline = '2099-01-01T00:00:00.000Z';
      const draft = { description: 'Count to three', hints: 'Slowly', deadline, context_files: ['a.md'] };
      const { task } = await call('coordination_create_task', draft);
      const task_id = task.id;
      const changed = await call('coordination_update_task', { task_id, priority: 2 });
      assert.deepEqual([changed.task.priority, changed.task.deadline], [2, deadline]);
      const cleared = await call('coordination_update_task', { task_id, clear: ['deadline'] });
      assert.deepEqual([cleared.task.priority, cleared.task.deadline], [2, undefined]);

      await call('coordination_register_agent', { agent_id, role: 'worker' });
      const claimed = await call('coordination_claim_task', { agent_id });
      assert.equal(claimed.task.id, task_id);
      assert.match(JSON.stringify(claimed.task), /Slowly/);
      await call('coordination_start_task', { agent_id, task_id });
      await call('coordination_complete_task', { agent_id, task_id, output: 'One, two, three' });
      const { results } = Object(await leader.call('coordination_get_results', {}));
      assert.match(JSON.stringify(results), /One, two, three/);
    });

    it('adds and completes a to-do through the tools', async () => {
      const due_date = '2099-01-01T10:00:00.000Z';
      const { task } = await call('todo_add_task', { title: `By ${name}`, due_date, tags: ['framework'] });
      const task_id = task.id;
      const changed = await call('todo_update_task', { task_id, priority: 'HIGH' });
      assert.deepEqual(
        [changed.task.priority, changed.task.due_date, changed.task.tags],
        ['HIGH', due_date, ['framework']],
      );
      const cleared = await call('todo_update_task', { task_id, clear: ['due_date'] });
      assert.equal(cleared.task.due_date, undefined);
      assert.equal((await call('todo_complete_task', { task_id })).task.completed, true);
    });
  });
