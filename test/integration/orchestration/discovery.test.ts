/** Tools that list agents, capabilities and workflows, and tools that save custom workflows. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { Availability, HostedAgent } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const listedWorkflows = z.object({
  workflows: z.array(z.looseObject({ name: z.string() })),
  truncated: z.boolean(),
  nextCursor: z.string().optional(),
});

const listedAgents = z.object({ agents: z.array(z.looseObject({ name: z.string(), status: z.string() })) });

const error = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.number(),
    message: z.string(),
    data: z.object({ field: z.string().optional(), reason: z.string().optional() }),
  }),
});

const metrics = z.object({
  avgResponseTime: z.int().min(0),
  successRate: z.number().gt(0).max(1),
  totalRequests: z.int().min(3),
});

/** Seconds without a call after which an agent is offline. */
const SILENCE_SECONDS = 181;

function hosted(name: string, availability: Availability): HostedAgent {
  const never = () => Promise.reject(new Error('No model is called in this test.'));
  const profile = PROFILES.find((one) => one.name === name) ?? assert.fail();
  return { ...profile, model: `${name}-model`, availability: () => availability, ask: never };
}

describe('orchestration discovery', () => {
  let team: Team;
  let app: Composition;

  function composed(gemini: Availability = { available: true }): Composition {
    const agents = [hosted('claude', { available: true }), hosted('gemini', gemini)];
    return compose(externalServicesOf({ clock: { now: () => team.now }, hosted: () => agents }));
  }

  beforeEach(() => {
    team = new Team();
    app = composed();
  });

  async function tool(name: string, args: JsonObject = {}, principal?: Principal): Promise<JsonObject> {
    const { structuredContent, isError } = await call(team.at({ app }), `orchestration_${name}`, args, principal);
    assert.equal(isError, undefined, JSON.stringify(structuredContent));
    return structuredContent;
  }

  async function refused(name: string, args: JsonObject, principal?: Principal) {
    const { structuredContent, isError } = await call(team.at({ app }), `orchestration_${name}`, args, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    return error.parse(structuredContent).error;
  }

  const workflows = async (args: JsonObject = {}, principal?: Principal) =>
    listedWorkflows.parse(await tool('list_workflows', args, principal));
  const agents = async (args: JsonObject = {}) => listedAgents.parse(await tool('list_agents', args)).agents;
  const steps = [{ agent: 'claude', role: 'plan' }, { agent: 'gemini' }];
  const save = (name: string, args: JsonObject = {}) => tool('save_workflow', { workflow: { name, steps }, ...args });

  describe('workflows', () => {
    it("are listed as in the specification's example", async () => {
      const { workflows: found, truncated } = await workflows({ filter: 'built-in' });
      assert.equal(truncated, false);
      const names = found.map(({ name }) => name);
      assert.deepEqual(names, ['direct', 'plan-execute', 'competitive', 'iterative', 'code-review']);
      assert.deepEqual(found.slice(1, 3), [
        {
          name: 'plan-execute',
          description: 'Plan with Claude, execute with Gemini',
          steps: 2,
          agents: ['claude', 'gemini'],
        },
        {
          name: 'competitive',
          description: 'Multiple agents compete for best result',
          steps: 2,
          agents: ['claude', 'gemini'],
          parallel: true,
        },
      ]);
    });

    it('are listed with their definitions, and can be saved under other names', async () => {
      const { workflows: found } = await workflows({ detailed: true });
      for (const { name, definition } of found) {
        assert.ok(typeof definition === 'object' && definition !== null);
        await tool('save_workflow', { workflow: { ...definition, name: `my-${name}` } });
      }
      assert.equal((await workflows({ filter: 'custom' })).workflows.length, 5);
    });

    it('can be saved, changed and deleted by any agent of their owner, with a version check', async () => {
      const created = await save('mine', { expectedVersion: 0 });
      assert.equal(created['change'], 'created');
      assert.equal((await save('mine'))['change'], 'unchanged');
      const changed = { name: 'mine', description: 'Better', steps: [{ agent: 'claude' }] };
      const replaced = await tool('save_workflow', { workflow: JSON.stringify(changed) }, team.principal('other'));
      assert.equal(replaced['change'], 'replaced');
      const { workflows: found } = await workflows({ filter: 'custom' });
      assert.deepEqual(found, [
        {
          name: 'mine',
          description: 'Better',
          steps: 1,
          agents: ['claude'],
          version: 2,
          updatedAt: team.now.toISOString(),
        },
      ]);
      const stale = await refused('delete_workflow', { name: 'mine', expectedVersion: 1 });
      assert.equal(stale.data.reason, 'VERSION_MISMATCH');
      await tool('delete_workflow', { name: 'mine', expectedVersion: 2 });
      assert.match((await refused('delete_workflow', { name: 'mine' })).message, /Workflow ".*" not found/);
      assert.deepEqual((await workflows({ filter: 'custom' })).workflows, []);
    });

    it('are hidden from other owners, who can use the same names', async () => {
      await save('mine');
      const stranger: Principal = { ...team.leader, uid: 'x', owner_uid: `stranger-${team.workspace}` };
      assert.deepEqual((await workflows({ filter: 'custom' }, stranger)).workflows, []);
      assert.match((await refused('delete_workflow', { name: 'mine' }, stranger)).message, /Workflow ".*" not found/);
      const own = await tool('save_workflow', { workflow: { name: 'mine', steps } }, stranger);
      assert.equal(own['change'], 'created');
    });

    it('cannot be saved by viewers, under built-in names or with unknown agents', async () => {
      const looking = await refused('save_workflow', { workflow: {} }, team.principal('looking', 'viewer'));
      assert.match(looking.message, /role/);
      const builtIn = await refused('save_workflow', { workflow: { name: 'direct', steps } });
      assert.deepEqual([builtIn.data.reason, builtIn.data.field], ['BUILT_IN', 'workflow.name']);
      assert.equal((await refused('delete_workflow', { name: 'direct' })).data.reason, 'BUILT_IN');
      const wrong = await refused('save_workflow', {
        workflow: { name: 'wrong', steps: [{ name: 'first', agent: 'gpt' }] },
      });
      assert.match(wrong.message, /Step "first": unknown agent "gpt"/);
      assert.equal(wrong.data.field, 'workflow.steps.0.agent');
      assert.deepEqual((await workflows({ filter: 'custom' })).workflows, []);
    });

    it('are created once by concurrent calls, each of which reports its own result', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => save('mine')));
      assert.deepEqual(answers.map(({ change }) => change).sort(), ['created', 'unchanged', 'unchanged']);
    });

    it('are listed page by page, with the built-in workflows first', async () => {
      for (const name of ['c', 'a', 'b']) await save(name);
      const first = await workflows({ limit: 2 });
      const saved = first.workflows.slice(5).map(({ name }) => name);
      assert.deepEqual(saved, ['a', 'b']);
      assert.equal(first.truncated, true);
      assert.ok(first.nextCursor);
      const second = await workflows({ limit: 2, cursor: first.nextCursor });
      assert.deepEqual([second.workflows.map(({ name }) => name), second.truncated], [['c'], false]);
      assert.equal((await refused('list_workflows', { cursor: '!' })).data.field, 'cursor');
    });

    it('are accepted as a name, as an object and as JSON text', async () => {
      await save('mine');
      const { workflows } = app.services.orchestration;
      const owner = team.leader.owner_uid;
      for (const workflow of ['mine', 'direct', { name: 'mine', steps }, JSON.stringify({ name: 'mine', steps })])
        assert.ok((await workflows.resolve(owner, workflow)).steps.length > 0);
      await assert.rejects(workflows.resolve(owner, 'theirs'), /Workflow ".*" not found/);
    });
  });

  describe('agents', () => {
    it("are listed as in the specification's example", async () => {
      const [claude, gemini] = await agents();
      assert.deepEqual(claude, {
        name: 'claude',
        kind: 'hosted',
        status: 'available',
        model: 'claude-model',
        capabilities: { planning: 0.95, execution: 0.85, review: 0.9, contextWindow: 200_000 },
      });
      assert.deepEqual(gemini, {
        name: 'gemini',
        kind: 'hosted',
        status: 'available',
        model: 'gemini-model',
        capabilities: { planning: 0.85, execution: 0.95, review: 0.8, contextWindow: 1_000_000 },
      });
    });

    it('are listed with measured metrics, or without metrics if none were measured', async () => {
      // The exact sums are compared for an agent of this test, because other tests also change the metrics of claude.
      const own = `agent-${team.workspace}`;
      const measure = (agent: string, requests: number, answered: number, milliseconds: number) =>
        app.kernel.store.commit([{ kind: 'measureAgent', measure: { agent, requests, answered, milliseconds } }]);
      assert.equal((await app.orchestration.ports.measures.read([own])).size, 0);
      for (const agent of [own, 'claude']) {
        await measure(agent, 2, 1, 2500);
        await measure(agent, 1, 1, 500);
      }
      const sums = { agent: own, requests: 3, answered: 2, milliseconds: 3000 };
      assert.deepEqual((await app.orchestration.ports.measures.read([own])).get(own), sums);
      const [claude] = await agents({ includeMetrics: true });
      metrics.parse(claude?.['metrics']);
    });

    it('are listed with the reason if they are unavailable', async () => {
      app = composed({ available: false, reason: 'The API key is missing: set GEMINI_API_KEY.' });
      const gemini = (await agents()).find(({ name }) => name === 'gemini');
      const shown = [gemini?.status, gemini?.['reason']];
      assert.deepEqual(shown, ['unavailable', 'The API key is missing: set GEMINI_API_KEY.']);
    });

    it('include live agents of the workspace as available or busy until they are offline', async () => {
      const worker = await team.join('coder', ['Coding', 'Review']);
      const found = async () => (await agents({ includeMetrics: true })).find(({ name }) => name === worker);
      assert.deepEqual(await found(), {
        name: worker,
        kind: 'network',
        status: 'available',
        capabilities: {},
        skills: ['Coding', 'Review'],
      });
      await app.access.ports.presence.touch(worker);
      await team.createOne();
      const taskId = await team.claim(worker);
      assert.ok(taskId);
      assert.equal((await found())?.status, 'busy');
      team.pass(60);
      await team.settle(worker, taskId, { kind: 'done', result: { output: 'Done.' } });
      assert.deepEqual((await found())?.['metrics'], { avgResponseTime: 60_000, successRate: 1, totalRequests: 1 });
      team.pass(SILENCE_SECONDS);
      assert.equal(await found(), undefined);
    });

    it('can be filtered by role, and live agents also by their skills', async () => {
      const worker = await team.join('reviewer', ['Reviewing']);
      const names = async (role: string) => (await agents({ role })).map(({ name }) => name);
      assert.deepEqual(await names('review'), ['claude', 'gemini', worker]);
      assert.deepEqual(await names('planning'), ['claude', 'gemini']);
      assert.deepEqual(await names('REVIEWING'), ['claude', 'gemini', worker]);
      assert.deepEqual(await names('cooking'), []);
    });
  });

  describe('capabilities', () => {
    it('can be inferred from the description of a task', async () => {
      const { recommendations, inferred } = await tool('get_capabilities', { task: 'Process 1MB of text data' });
      assert.deepEqual(inferred, ['The task has about 250000 tokens.']);
      assert.match(JSON.stringify(recommendations), /^\[\{"agent":"gemini".*Context window smaller than required/);
    });

    it('cause an error for an unknown role', async () => {
      const { message, data } = await refused('get_capabilities', { requirements: { role: 'cook' } });
      assert.deepEqual([message, data.field], ['Unknown role "cook".', 'requirements.role']);
    });
  });
});
