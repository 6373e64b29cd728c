/** Runs of the deployed functions: steps that Cloud Tasks starts, and a step that a live agent does. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { assertShape } from '../support/shape.ts';
import { registerAgent } from './support/agents.ts';
import { succeed } from './support/calls.ts';
import { connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

describe('a run of the deployed functions', function () {
  this.timeout('10m');

  it('executes its steps through Cloud Tasks, and is returned again if the request is repeated', async () => {
    const url = endpointUrl('/orchestration', { workspace: newWorkspace('orchestration') });
    const client = await connect('client 2026-07-28', url, await tokenOf('worker1'));
    const asked = {
      prompt: `Create a React component for user authentication (${randomUUID()})`,
      preferences: { workflow: 'plan-execute', agent: 'auto' },
    };
    let answer = await succeed(client, 'orchestrate', asked);
    while (answer['status'] !== 'succeeded') {
      assert.ok(['pending', 'running'].includes(String(answer['status'])), JSON.stringify(answer));
      assert.match(String(answer['next']), /get_run/);
      answer = await succeed(client, 'get_run', { runId: answer['runId'], waitMs: 45_000 });
    }
    assertShape(answer, {
      runId: 'x',
      status: 'succeeded',
      result: 'x',
      steps: [{ name: 'plan', agent: 'claude' }],
      metadata: { agents: ['claude', 'gemini'], duration: 1, cached: false },
    });
    const again = await succeed(client, 'orchestrate', asked);
    assert.ok(isRecord(again['metadata']) && again['metadata']['cached'] === true);
    assert.equal(again['runId'], answer['runId']);
    const resource: unknown = JSON.parse(await client.read(`run://${String(answer['runId'])}`));
    assert.ok(isRecord(resource) && resource['status'] === 'succeeded');
    await client.close();
  });
});

describe('a workflow step for a live agent', function () {
  this.timeout('10m');

  it("is claimed by a worker as a task, and the run continues with the task's result", async () => {
    const workspace = newWorkspace('orchestration');
    const capability = `craft-${workspace}`;
    const agent = await registerAgent('craft', { capabilities: [capability] });
    const client = await connect('client 2026-07-28', endpointUrl('', { workspace }), agent.token);
    const started = succeed(client, 'orchestration_orchestrate_workflow', {
      workflow: {
        name: 'by-hand',
        steps: [
          { name: 'work', agent: 'network', capabilities: [capability] },
          { name: 'review', agent: 'claude', role: 'review' },
        ],
      },
      input: `Carve something (${randomUUID()})`,
    });
    await succeed(client, 'coordination_register_agent', {
      agent_id: agent.id,
      role: 'worker',
      capabilities: [capability],
    });
    const task = await eventually('the step can be claimed', async () => {
      const { task: claimed } = await succeed(client, 'coordination_claim_task', { agent_id: agent.id });
      return isRecord(claimed) ? claimed : undefined;
    });
    await succeed(client, 'coordination_complete_task', {
      agent_id: agent.id,
      task_id: task['id'],
      output: 'A carved bird',
    });
    let answer = await started;
    while (answer['status'] !== 'succeeded') {
      assert.ok(['pending', 'running', 'waiting'].includes(String(answer['status'])), JSON.stringify(answer));
      answer = await succeed(client, 'orchestration_get_run', { runId: answer['runId'], waitMs: 45_000 });
    }
    assert.ok(Array.isArray(answer['steps']) && isRecord(answer['steps'][0]));
    const { agent: worker, output } = answer['steps'][0];
    assert.deepEqual([worker, output], [agent.id, 'A carved bird']);
    await client.close();
  });
});
