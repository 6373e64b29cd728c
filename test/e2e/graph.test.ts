/** The deployed trigger that completes a task when its parts are done, and a to-do when its task is done. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { RemoteModels } from '../support/models/remote.ts';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

const made = z.object({ task: z.object({ id: z.string() }) });
const listed = z.object({ tasks: z.array(z.object({ id: z.string(), completed: z.boolean() })) });

describe('the trigger followGraph', () => {
  const workspace = newWorkspace('graph');
  let leader: Connection;

  before(async () => {
    leader = await connect('client 2026-07-28', endpointUrl('', { workspace }), await tokenOf('leader'));
  });
  after(() => leader?.close());

  it('completes a delegated to-do when the last part of the delegated task is done', async () => {
    const agent_id = (await registerAgent('graph', { maxConcurrentTasks: 5 })).id;
    await succeed(leader, 'coordination_register_agent', { agent_id, role: 'worker' });
    const title = `Greet everybody ${workspace}`;
    const todo = made.parse(await succeed(leader, 'todo_add_task', { title })).task.id;
    const { delegated } = await succeed(leader, 'todo_delegate', { task_id: todo });
    const { task_id } = z.object({ task_id: z.string() }).parse(delegated);
    const claim = async () => made.parse(await succeed(leader, 'coordination_claim_task', { agent_id })).task.id;
    assert.equal(await claim(), task_id);
    const draft = { description: 'Say hello', part_of: { kind: 'task', id: task_id } };
    const part = made.parse(await succeed(leader, 'coordination_create_task', draft)).task.id;
    const report = { agent_id, output: 'Done' };
    await succeed(leader, 'coordination_complete_task', { ...report, task_id, when_parts_done: true });
    assert.equal(await claim(), part);
    await succeed(leader, 'coordination_complete_task', { ...report, task_id: part });
    await eventually('the to-do is completed', async () => {
      const { tasks } = listed.parse(await succeed(leader, 'todo_search_tasks', { query: workspace }));
      return tasks.find(({ id }) => id === todo)?.completed || undefined;
    });
  });

  it('cancels a run and aborts its model request if the task that is its parent is cancelled', async () => {
    const models = new RemoteModels(process.env['ANTHROPIC_BASE_URL'] ?? '');
    const prompt = `hang ${workspace}`;
    await models.when({ text: prompt }, { does: 'hang' });
    const draft = { description: 'Plan it' };
    const task_id = made.parse(await succeed(leader, 'coordination_create_task', draft)).task.id;
    const { runId } = await succeed(leader, 'orchestration_orchestrate', {
      prompt,
      preferences: { agent: 'claude' },
      options: { timeout: 0 },
      part_of: { kind: 'task', id: task_id },
    });
    const asked = async () => (await models.askedAbout(prompt))[0];
    await eventually('the model receives a request', asked);
    await succeed(leader, 'coordination_cancel_task', { task_id });
    await eventually('the run is cancelled and its model request is closed', async () => {
      const { status } = await succeed(leader, 'orchestration_get_run', { runId });
      return (status === 'cancelled' && (await asked())?.closedAt !== undefined) || undefined;
    });
    assert.equal((await models.askedAbout(prompt)).length, 1);
  });
});
