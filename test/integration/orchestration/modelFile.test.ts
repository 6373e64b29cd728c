/** Runs of a deployment whose models.json has an agent without a price, and no longer has the agent gemini. */
import assert from 'node:assert/strict';
import type { HostedAgent } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { NO_DOLLAR_LIMIT } from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import { runResponse, runText } from '../../../functions/src/toolsets/orchestration/tools/runResponses.ts';
import { agentsAt } from '../../support/models/agents.ts';
import { OrchestrationFixture } from './fixture.ts';

function deployed(url: string): readonly HostedAgent[] {
  const house = { api: 'openai-compatible', baseUrl: `${url}/v1`, key: false };
  const file = {
    providers: { anthropic: { api: 'anthropic' }, house },
    agents: {
      claude: { provider: 'anthropic', model: 'claude-local', price: { input: 1, output: 5 } },
      local: { provider: 'house', model: 'qwen3:32b' },
    },
  };
  return agentsAt(url, { file });
}

const step = (agent: string) => ({ name: 'one-step', steps: [{ name: 'only', agent, prompt: '{{input}}' }] });
const unlimited = { budget: { tokens: 1_000_000, cost_usd: NO_DOLLAR_LIMIT } };

describe('run of a deployment with its own models.json', () => {
  const fixture = new OrchestrationFixture(deployed);
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  it('counts tokens without a price, and shows their cost as unknown and not as 0', async () => {
    const view = await fixture.run(step('local'), unlimited);
    const { usage } = runResponse(view);
    assert.equal(view.run.status, 'succeeded');
    assert.equal(usage.costUsd, undefined);
    assert.equal(usage.unpricedTokens, usage.inputTokens + usage.outputTokens);
    assert.match(runText({ ...runResponse(view), success: true }), /cost unknown, /);
  });

  it('asks another agent instead of one without a price, under a budget in US dollars', async () => {
    const view = await fixture.run(step('local'));
    const [warning = ''] = view.run.warnings;
    assert.match(warning, /claude answered instead of local \(over_budget\): No price for "local" in models\.json/);
    assert.ok(view.run.spent.cost_usd > 0 && view.run.spent.unpriced_tokens === undefined);
  });

  it('asks another agent instead of one that models.json no longer contains, and reports this', async () => {
    const { run, steps } = await fixture.run(step('gemini'));
    assert.deepEqual([run.status, steps[0]?.agents], ['succeeded', ['claude']]);
    assert.deepEqual(run.warnings, ['Step "only": models.json has no agent "gemini".']);
  });
});
