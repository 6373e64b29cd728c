import assert from 'node:assert/strict';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import type { Situation } from '../../../functions/src/toolsets/orchestration/rules/agents/roster.ts';
import {
  type OutcomeStats,
  outcomesIn,
  recordedOutcomesOf,
} from '../../../functions/src/toolsets/orchestration/rules/agents/scoring.ts';
import { requestFor } from '../../../functions/src/toolsets/orchestration/rules/requests.ts';
import { refusal } from '../../support/refusal.ts';
import { OrchestrationFixture, unkeyed } from './fixture.ts';

const BUDGET = { budget: { tokens: 1_000_000, cost_usd: 10 } };
const SUCCESS = { accepted: 1, failed: 0, lost: 0, retried: 0, worth: 1, milliseconds: 100, cost_usd: 0.01 };

const REVIEWED = {
  name: 'reviewed',
  steps: [
    { name: 'work', agent: 'gemini', prompt: 'WORK {{input}}' },
    { name: 'check', agent: 'claude', role: 'review', prompt: 'CHECK {{input}}' },
  ],
};

describe("outcomes of agents' work", () => {
  let fixture: OrchestrationFixture;

  beforeEach(async () => {
    fixture = new OrchestrationFixture();
    await fixture.start();
  });
  afterEach(() => fixture.stop());

  const situation = (workspace = fixture.workspace): Promise<Situation> =>
    fixture.app.services.orchestration.roster.situation(workspace);

  /** Returns the stored outcome statistics of an agent for one kind of work. */
  async function tally(kind: string, agent: string, workspace = fixture.workspace): Promise<OutcomeStats[]> {
    const { work } = await situation(workspace);
    return Object.values(work[kind]?.buckets ?? {}).flatMap((tallies) => tallies[agent] ?? []);
  }

  async function ask(preferences: Parameters<typeof requestFor>[1] = {}, input = fixture.question()) {
    const request = requestFor({ prompt: input }, preferences, BUDGET, await situation());
    const { runs } = fixture.app.services.orchestration;
    return runs.start(fixture.principal, fixture.workspace, request, unkeyed);
  }

  async function route(pin: Readonly<Record<string, string>>, forbidden: readonly string[]): Promise<void> {
    const pins = Object.entries(pin).map(([kind, agent]) => ({ kind, agent }));
    const { workspace } = fixture;
    const routing = { pins, forbidden };
    await fixture.app.kernel.store.commit([{ kind: 'routeWorkspace', workspace, routing }]);
  }

  /** Stores, for an agent, a number of answers that were not selected. */
  async function disappoint(agent: string, lost: number): Promise<void> {
    const { workspace } = fixture;
    const nothing = { accepted: 0, failed: 0, retried: 0, worth: 0, milliseconds: 0, cost_usd: 0 };
    const tallies = { [agent]: { ...nothing, lost } };
    const booking = { kind: 'execute', outcomes: lost, bucket: 0, tallies, faded: [] } as const;
    await fixture.app.kernel.store.commit([{ kind: 'recordOutcomes', workspace, bookings: [booking] }]);
  }

  it('are counted by kind of work, with cost and time, when the run ends', async () => {
    const input = fixture.question();
    fixture.models.when({ text: `CHECK ${input}` }, { does: 'answer', text: 'CHANGES\nAll of it.' });
    const { run } = await fixture.run(REVIEWED, { input });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const [work, ...others] = await tally('execute', 'gemini');
    assert.deepEqual(others, []);
    assert.deepEqual([work?.accepted, work?.failed, work?.lost, work?.worth], [0, 0, 1, 0]);
    assert.ok(work && work.cost_usd > 0 && work.milliseconds >= 0);
    const [check] = await tally('review', 'claude');
    assert.deepEqual([check?.accepted, check?.worth], [1, 1]);
    assert.equal((await situation()).work['execute']?.outcomes, 1);
  });

  it('are counted once if the run is delivered several times', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(REVIEWED);
    const other = fixture.anotherInstance();
    await Promise.all([fixture.deliver(runId), fixture.deliver(runId, other), fixture.deliver(runId)]);
    await fixture.deliver(runId, other);
    const [work] = await tally('execute', 'gemini');
    assert.equal(work && outcomesIn(work), 1);
  });

  it('are all counted even if many runs end concurrently', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => fixture.run(REVIEWED)));
    assert.ok(runs.every(({ run }) => run.status === 'succeeded'));
    const counted = (await tally('execute', 'gemini')).map(outcomesIn);
    const total = counted.reduce((sum, one) => sum + one, 0);
    assert.equal(total, 8);
  });

  it('are deleted after their weight has decayed', async () => {
    await disappoint('gemini', 10);
    const { workspace } = fixture;
    const before = (await situation()).work;
    const outcome = { agent: 'gemini', kind: 'execute', ...SUCCESS } as const;
    const long = { execute: { outcomes: 400, buckets: before['execute']?.buckets ?? {} } };
    const bookings = recordedOutcomesOf(long, [outcome]);
    await fixture.app.kernel.store.commit([{ kind: 'recordOutcomes', workspace, bookings }]);
    const { outcomes, buckets = {} } = (await situation()).work['execute'] ?? {};
    assert.deepEqual([outcomes, Object.keys(buckets)], [11, ['40']]);
    assert.deepEqual(await tally('execute', 'gemini'), [SUCCESS]);
  });

  it('are not counted again for cached answers, and never for cancelled runs', async () => {
    const input = fixture.question();
    const { runId } = await ask({}, input);
    await fixture.ended(runId);
    assert.deepEqual(await ask({}, input), { runId, cached: true });
    assert.equal((await situation()).work['execute']?.outcomes, 1);
    fixture.losing = true;
    const { runId: cancelled } = await ask();
    const { runs } = fixture.app.services.orchestration;
    await runs.cancel(fixture.principal, cancelled, unkeyed);
    await fixture.deliver(cancelled);
    assert.equal((await situation()).work['execute']?.outcomes, 1);
  });

  it('count as failures of an agent whose answer makes the run fail', async () => {
    const input = fixture.question();
    fixture.models.when({ text: input }, { does: 'answer', end: 'refusal' });
    const { runId } = await ask({}, input);
    assert.equal((await fixture.ended(runId)).run.status, 'failed');
    const [work] = await tally('execute', 'gemini');
    assert.deepEqual([work?.accepted, work?.failed, work?.worth], [0, 1, 0]);
  });

  it("are not counted for an agent if the deployment's API keys are wrong", async () => {
    const input = fixture.question();
    // Both providers are asked in each run.
    fixture.models.when({ text: input, times: 20 }, { does: 'error', status: 401 });
    for (let time = 0; time < 10; time++) {
      const { runId } = await ask({ cache: false }, input);
      assert.equal((await fixture.ended(runId)).run.failure?.reason, 'AUTHENTICATION');
    }
    assert.deepEqual(await tally('execute', 'gemini'), []);
    const { steps } = await fixture.ended((await ask({ cache: false }, input)).runId);
    assert.deepEqual(steps[0]?.agents, ['gemini']);
  });

  it('cause the selection of the agent with better outcomes; the run states the reason', async () => {
    const first = await fixture.ended((await ask()).runId);
    assert.deepEqual(first.steps[0]?.agents, ['gemini']);
    assert.match(first.run.selection?.reasons.join() ?? '', /execute: gemini: Best execution capability/);
    await disappoint('gemini', 7);
    const view = await fixture.ended((await ask()).runId);
    const [reason = ''] = view.run.selection?.reasons.slice(-1) ?? [];
    if (view.steps[0]?.agents[0] === 'gemini') assert.match(reason, /tried occasionally although claude scores higher/);
    else assert.match(reason, /^execute: claude: .*; gemini: 1 of 8 answers for execute accepted here, /);
    const agents = await Promise.all(
      Array.from({ length: 12 }, async () => (await fixture.ended((await ask()).runId)).steps[0]?.agents[0]),
    );
    assert.ok(agents.filter((agent) => agent === 'claude').length > 6, agents.join());
  });

  it('do not affect other workspaces', async () => {
    await disappoint('gemini', 50);
    const elsewhere = await situation(`${fixture.workspace}-2`);
    assert.deepEqual([elsewhere.work, elsewhere.routing], [{}, NO_ROUTING]);
    const { roster } = fixture.app.services.orchestration;
    const [there] = (await roster.recommend(`${fixture.workspace}-2`, '', {})).recommendations;
    assert.deepEqual([there?.agent, there?.score], ['gemini', 0.95]);
    const [here, gemini] = (await roster.recommend(fixture.workspace, '', {})).recommendations;
    assert.equal(here?.agent, 'claude');
    assert.match(gemini?.reasons.join() ?? '', /0 of 50 answers for execute accepted here, on average 0 s and 0 USD/);
  });

  describe('the routing of a workspace', () => {
    it('selects pinned agents, even in built-in workflows', async () => {
      await route({ execute: 'claude' }, []);
      const { steps, run } = await fixture.ended((await ask({ workflow: 'plan-execute' })).runId);
      const chosen = steps.map(({ agents }) => agents);
      assert.deepEqual(chosen, [['claude'], ['claude']]);
      assert.match(run.selection?.reasons.join() ?? '', /execute: claude: Pinned for execute/);
    });

    it('never selects a forbidden agent, not even as a fallback', async () => {
      await route({}, ['gemini']);
      for (const workflow of ['direct', 'plan-execute', 'competitive', 'iterative'] as const) {
        const { steps, run } = await fixture.ended((await ask({ workflow })).runId);
        assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
        assert.ok(steps.every(({ agents }) => agents.join() === 'claude' || agents.length === 0));
      }
      const input = fixture.question();
      fixture.models.when({ text: input }, { does: 'answer', text: '' });
      const failed = await fixture.ended((await ask({ workflow: 'direct' }, input)).runId);
      assert.equal(failed.run.status, 'failed');
      const asked = failed.steps.flatMap(({ attempts }) => attempts.map(({ agent }) => agent));
      assert.deepEqual([...new Set(asked)], ['claude']);
    });

    it('refuses a call that names a forbidden agent', async () => {
      await route({}, ['gemini']);
      const error = await refusal(() => ask({ agent: 'gemini' }));
      const refused = [error.code, error.details.field, error.details.reason];
      assert.deepEqual(refused, ['FORBIDDEN', 'preferences.agent', 'AGENT_FORBIDDEN']);
    });
  });
});
