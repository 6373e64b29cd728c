/** Makes the example calls of the orchestration specification, and compares steps and agents with printed ones. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { LocalModels } from '../../support/models/server.ts';
import { answer } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { withModels } from './examples.ts';

/** Makes a prompt unique. Runs with equal prompts would share a cached answer. */
const fresh = (prompt: string): string => `${prompt} (${randomUUID()})`;

const PLAN_AND_EXECUTE = [
  ['plan', 'claude'],
  ['execute', 'gemini'],
] as const;

const BOTH = ['claude', 'gemini'];

const CALLS: readonly (readonly [string, JsonObject, readonly (readonly [string, string | undefined])[]])[] = [
  [
    'orchestrate',
    {
      prompt: fresh('Create a React component for user authentication'),
      preferences: { workflow: 'plan-execute', agent: 'auto' },
    },
    PLAN_AND_EXECUTE,
  ],
  [
    'orchestrate_workflow',
    {
      workflow: {
        name: 'custom',
        steps: [
          { agent: 'claude', role: 'plan' },
          { agent: 'gemini', role: 'execute' },
          { agent: 'claude', role: 'review' },
        ],
      },
      input: fresh('Build a REST API'),
    },
    [
      ['step_1', 'claude'],
      ['step_2', 'gemini'],
      ['step_3', 'claude'],
    ],
  ],
  [
    'orchestrate_workflow',
    { workflow: 'code-review', input: fresh('Create a secure login system') },
    [['generate', 'gemini']],
  ],
  ['execute_code', { prompt: fresh('Write a Python web scraper') }, [['execute', 'gemini']]],
  ['execute_task', { task: { id: 'task-001', prompt: fresh('Build a REST API') } }, PLAN_AND_EXECUTE],
];

describe('examples of the orchestration specification', () => {
  const models = new LocalModels();
  const team: Team = new Team(withModels(models, () => team.app));
  before(async () => {
    await models.start();
    const { owner_uid: uid } = team.leader;
    await team.app.kernel.store.commit([{ kind: 'setPerson', uid, role: 'leader' }]);
  });
  after(() => models.stop());

  /** Calls a tool and waits until its run has succeeded. */
  async function result(tool: string, args: JsonObject): Promise<JsonObject> {
    let found = await answer(team, `orchestration_${tool}`, args);
    while (found['status'] !== 'succeeded') {
      assert.ok(['pending', 'running'].includes(String(found['status'])), JSON.stringify(found));
      found = await answer(team, 'orchestration_get_run', { runId: found['runId'] ?? '', waitMs: 45_000 });
    }
    assert.ok(typeof found['result'] === 'string' && found['result'] !== '');
    return found;
  }

  const stepsOf = (found: JsonObject): readonly JsonObject[] => [...Object(found['steps'])];

  for (const [tool, args, steps] of CALLS)
    it(`${tool} runs the printed steps for ${JSON.stringify(args).slice(0, 60)}`, async () => {
      const found = stepsOf(await result(tool, args)).map(({ name, agent }) => [name, agent]);
      assert.deepEqual(found.slice(0, steps.length), steps);
    });

  it('orchestrate explains the selection of an agent if the call names no agent', async () => {
    const { selection } = await result('orchestrate', { prompt: fresh('Write a Python web scraper') });
    assert.notEqual(Object(selection).reasons.length, 0);
  });

  it('orchestrate_parallel explains a vote and returns the results of all agents', async () => {
    const asked = { prompt: fresh('Optimize this SQL query'), agents: BOTH, role: 'execute' };
    const [vote] = stepsOf(await result('orchestrate_parallel', { ...asked, mode: 'vote' }));
    assert.equal(typeof vote?.['explanation'], 'string');
    const [all] = stepsOf(await result('orchestrate_parallel', { ...asked, mode: 'all' }));
    const agents = [...Object(all?.['results'])].map(({ agent }) => agent);
    assert.deepEqual(agents, BOTH);
  });

  it('list_runs lists a run after its start', async () => {
    const { runId } = await result('execute_code', { prompt: fresh('Write a test') });
    const { runs } = await answer(team, 'orchestration_list_runs', { limit: 20 });
    assert.ok([...Object(runs)].some((run) => run.runId === runId));
  });
});
