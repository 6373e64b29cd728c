/** Names of agents in calls, workflows and settings, where models.json has other agents than before. */
import assert from 'node:assert/strict';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import { inputJsonSchema } from '../../../functions/src/mcp/jsonSchema.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import type { Situation } from '../../../functions/src/toolsets/orchestration/rules/agents/roster.ts';
import { requestFor, requestOf } from '../../../functions/src/toolsets/orchestration/rules/requests.ts';
import { assignAgents } from '../../../functions/src/toolsets/orchestration/rules/runs/assignment.ts';
import { agentsOf, allSteps } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { refusal } from '../../support/refusal.ts';

const [claude = assert.fail()] = PROFILES;
const available = { availability: { available: true } } as const;
const local = { ...claude, name: 'local', provider: 'house', price: undefined, ...available };

/** Without gemini, and with an agent that has no price. */
const HERE: Situation = {
  workspace: 'alpha',
  agentStatuses: [{ ...claude, ...available }, local],
  routing: NO_ROUTING,
  work: {},
};
const BUDGET = { tokens: 1000, cost_usd: 1 };
const GIVEN = { input: 'Do it.', context: {}, budget: BUDGET, cache: false };
const NEVER = { integer: () => assert.fail('drawn') };

const saved = (...steps: object[]) => readWorkflow({ name: 'mine', steps }, 'workflow');
const agentsIn = (workflow: ReturnType<typeof saved>) => allSteps(workflow).map((step) => agentsOf(step).join(' '));

describe('name of an agent', () => {
  it('is refused with the list of agents if models.json does not contain it', async () => {
    const preferred = await refusal(() => requestFor({ prompt: 'x' }, { agent: 'gemini' }, { budget: BUDGET }, HERE));
    assert.deepEqual(
      [preferred.details.field, preferred.details.suggestion],
      ['preferences.agent', 'Use one of: auto, claude, local.'],
    );
    const inline = await refusal(() =>
      readWorkflow({ name: 'x', steps: [{ agent: 'gemini' }] }, 'workflow', ['claude']),
    );
    assert.match(inline.message, /unknown agent "gemini"\. Use claude, auto, or network/);
    const replaced = await refusal(() => requestOf(saved({ name: 'a' }), GIVEN, { agents: { a: 'gemini' } }, HERE));
    assert.equal(replaced.details.field, 'overrides.agents.a');
  });

  it('is refused under a budget in US dollars if the agent has no price', async () => {
    const named = [
      () => requestFor({ prompt: 'x' }, { agent: 'local' }, { budget: BUDGET }, HERE),
      () => requestOf(saved({ agent: 'local' }), GIVEN, {}, HERE),
      () => requestOf(saved({ name: 'a' }), GIVEN, { agents: { a: 'local' } }, HERE),
    ];
    for (const call of named) assert.equal((await refusal(call)).details.reason, 'NO_PRICE');
    const { workflow } = assignAgents(saved({ name: 'a' }), 'x', HERE, NEVER);
    assert.deepEqual(agentsIn(workflow), ['claude'], 'auto prefers an agent with a price');
  });

  it('is replaced in a saved workflow if models.json no longer contains it, with a reason', async () => {
    const several = saved({ name: 'a', agent: 'gemini' }, { name: 'b', agents: ['claude', 'gemini'], mode: 'vote' });
    const { workflow, selection } = requestOf(several, GIVEN, {}, HERE);
    assert.deepEqual(agentsIn(workflow), ['auto', 'claude']);
    assert.deepEqual(selection?.reasons, [
      'a: does not use gemini, because models.json does not contain it.',
      'b: does not use gemini, because models.json does not contain it.',
    ]);
    const picking = saved({ name: 'a', agents: ['claude', 'gemini'] }, { name: 'b', picks: 'a' });
    assert.equal((await refusal(() => requestOf(picking, GIVEN, {}, HERE))).details.reason, 'AGENTS_GONE');
  });

  it('is omitted from built-in workflows if models.json does not contain it', () => {
    const { workflow } = requestOf(builtIn('competitive') ?? assert.fail(), GIVEN, {}, HERE);
    assert.deepEqual(agentsIn(workflow), ['claude']);
    assert.deepEqual(readWorkflow(JSON.stringify(workflow), 'workflow'), workflow);
  });

  it('is ignored as a pinned agent if models.json does not contain it, with a reason', () => {
    const pinned = { ...HERE, routing: { pins: [{ kind: 'execute', agent: 'gemini' }], forbidden: [] } };
    const { workflow, reasons } = assignAgents(saved({ name: 'a' }), 'x', pinned, NEVER);
    assert.deepEqual(agentsIn(workflow), ['claude']);
    assert.match(reasons[0] ?? '', /; gemini is pinned, but models\.json does not contain it/);
  });

  it('occurs in no list of allowed values of a tool, so tool lists are equal in all deployments', () => {
    for (const { tools } of toolsets)
      for (const { name, input } of tools)
        assert.doesNotMatch(JSON.stringify(inputJsonSchema(input)), /"enum":\[[^\]]*"(claude|gemini)"/, name);
  });
});
