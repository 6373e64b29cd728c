/** The examples of the orchestration specification, as printed, through real clients and the Cloud Tasks that runs go by. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { byDay } from '../support/night.ts';
import { registerAgent } from './support/agents.ts';
import { someAtOnce } from './support/atOnce.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect, ERAS, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const AT_ONCE = 3;

/** By day in one era: runs take their time, and the other examples go through all eras. */
const eras = byDay(ERAS.slice(0, 1), { night: [...ERAS] });

for (const era of eras) {
  describe(`the examples of the orchestration specification with ${era}`, function () {
    this.timeout('10m');
    let client: Connection;
    /** The same question gets the same answer: each test asks its own. */
    const anew = (prompt: string): string => `${prompt} (${randomUUID()})`;

    before(async () => {
      const url = endpointUrl('/orchestration', { workspace: newWorkspace('orchestration') });
      client = await connect(era, url, await tokenOf('worker1'));
    });
    after(() => client?.close());

    /** Calls a tool until its run has succeeded. */
    async function result(tool: string, args: Fields): Promise<Fields> {
      let answer = await succeed(client, tool, args);
      while (answer['status'] !== 'succeeded') {
        assert.ok(['pending', 'running'].includes(String(answer['status'])), JSON.stringify(answer));
        assert.match(String(answer['next']), /get_run/);
        answer = await succeed(client, 'get_run', { runId: answer['runId'], waitMs: 45_000 });
      }
      assert.ok(typeof answer['result'] === 'string' && answer['result'] !== '');
      const { metadata } = answer;
      assert.ok(isRecord(metadata));
      assert.equal(typeof metadata['duration'], 'number');
      assert.equal(metadata['cached'], false);
      return answer;
    }

    function steps(answer: Fields): unknown[] {
      assert.ok(Array.isArray(answer['steps']));
      return answer['steps'].map((step: unknown) => (isRecord(step) ? [step['name'], step['agent']] : step));
    }

    // A run goes from step to step by a queue that its emulator looks into once a second.
    someAtOnce(AT_ONCE, {
      'orchestrate, with a workflow': async () => {
        const prompt = anew('Create a React component for user authentication');
        const answer = await result('orchestrate', {
          prompt,
          preferences: { workflow: 'plan-execute', agent: 'auto' },
        });
        assert.deepEqual(steps(answer), [
          ['plan', 'claude'],
          ['execute', 'gemini'],
        ]);
        assert.ok(isRecord(answer['metadata']));
        assert.deepEqual(answer['metadata']['agents'], ['claude', 'gemini']);
        const again = await succeed(client, 'orchestrate', {
          prompt,
          preferences: { workflow: 'plan-execute', agent: 'auto' },
        });
        assert.ok(isRecord(again['metadata']) && again['metadata']['cached'] === true);
        assert.equal(again['runId'], answer['runId']);
      },

      'orchestrate, choosing for itself': async () => {
        const answer = await result('orchestrate', { prompt: anew('Write a Python web scraper') });
        assert.ok(isRecord(answer['selection']) && Array.isArray(answer['selection']['reasons']));
        assert.notEqual(answer['selection']['reasons'].length, 0);
      },

      'orchestrate_workflow, with a workflow of its own': async () => {
        const answer = await result('orchestrate_workflow', {
          workflow: {
            name: 'custom',
            steps: [
              { agent: 'claude', role: 'plan' },
              { agent: 'gemini', role: 'execute' },
              { agent: 'claude', role: 'review' },
            ],
          },
          input: anew('Build a REST API'),
        });
        assert.deepEqual(steps(answer), [
          ['step_1', 'claude'],
          ['step_2', 'gemini'],
          ['step_3', 'claude'],
        ]);
      },

      'orchestrate_workflow, by name': async () => {
        const answer = await result('orchestrate_workflow', {
          workflow: 'code-review',
          input: anew('Create a secure login system'),
        });
        assert.deepEqual(steps(answer).slice(0, 1), [['generate', 'gemini']]);
      },

      'orchestrate_parallel, by vote and with all': async () => {
        const vote = await result('orchestrate_parallel', {
          prompt: anew('Optimize this SQL query'),
          agents: ['claude', 'gemini'],
          mode: 'vote',
          role: 'execute',
        });
        assert.ok(Array.isArray(vote['steps']) && isRecord(vote['steps'][0]));
        assert.equal(typeof vote['steps'][0]['explanation'], 'string');
        const all = await result('orchestrate_parallel', {
          prompt: anew('Solve this algorithm problem'),
          agents: ['claude', 'gemini'],
          mode: 'all',
        });
        assert.ok(Array.isArray(all['steps']) && isRecord(all['steps'][0]));
        const { results } = all['steps'][0];
        assert.ok(Array.isArray(results));
        assert.deepEqual(
          results.map((one: unknown) => isRecord(one) && one['agent']),
          ['claude', 'gemini'],
        );
      },

      'the tools of before': async () => {
        const code = await result('execute_code', { prompt: anew('Write a Python web scraper') });
        assert.deepEqual(steps(code), [['execute', 'gemini']]);
        const task = await result('execute_task', {
          task: { id: 'task-001', prompt: anew('Build a REST API') },
        });
        assert.deepEqual(steps(task), [
          ['plan', 'claude'],
          ['execute', 'gemini'],
        ]);
      },

      'list_runs and the resource of a run': async () => {
        const { runId } = await result('execute_code', { prompt: anew('Write a test') });
        const { runs } = await succeed(client, 'list_runs', { limit: 20 });
        assert.ok(Array.isArray(runs) && isRecord(runs[0]));
        assert.ok(runs.some((run: unknown) => isRecord(run) && run['runId'] === runId));
        const resource: unknown = JSON.parse(await client.read(`run://${runId}`));
        assert.ok(isRecord(resource) && resource['status'] === 'succeeded');
      },

      'a call that is repeated with its key gets its run': async () => {
        const call = {
          prompt: anew('Write a test'),
          idempotency_key: randomUUID(),
          preferences: { cache: false },
        };
        const first = await result('orchestrate', call);
        const second = await succeed(client, 'orchestrate', call);
        assert.equal(second['runId'], first['runId']);
      },
    });
  });
}

describe('a step for a live agent, over the deployed functions', function () {
  this.timeout('10m');

  it('is claimed by a worker, whose result the run goes on with', async () => {
    const workspace = newWorkspace('orchestration');
    const capability = `craft-${workspace}`;
    const agent = await registerAgent('craft', { capabilities: [capability] });
    const client = await connect('client 2026-07-28', endpointUrl('', { workspace }), agent.token);
    const begun = succeed(client, 'orchestration_orchestrate_workflow', {
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
    let answer = await begun;
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
