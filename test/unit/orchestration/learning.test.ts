/** Routing that learns from outcomes, simulated with agents whose quality is known. */
import assert from 'node:assert/strict';
import { NO_ROUTING, type Routing } from '../../../functions/src/access/rules/workspace.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { recommend, type Situation } from '../../../functions/src/toolsets/orchestration/rules/agents/roster.ts';
import {
  type KindRecord,
  type OutcomeStats,
  type RecordedOutcomes,
  recordedOutcomesOf,
  type WorkRecord,
} from '../../../functions/src/toolsets/orchestration/rules/agents/scoring.ts';
import {
  parallelWorkflow,
  requestFor,
  requestOf,
} from '../../../functions/src/toolsets/orchestration/rules/requests.ts';
import { asRouted, assignAgents } from '../../../functions/src/toolsets/orchestration/rules/runs/assignment.ts';
import { outcomesOfRun } from '../../../functions/src/toolsets/orchestration/rules/runs/outcomes.ts';
import { seededRandom } from '../../../functions/src/toolsets/orchestration/rules/steps/judging.ts';
import { type StepRecord, startedStep } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { agentsOf, allSteps } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { START } from '../../support/builders.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { refusal } from '../../support/refusal.ts';

type Qualities = Readonly<Record<'claude' | 'gemini', number>>;

const available = PROFILES.map((profile) => ({ ...profile, availability: { available: true as const } }));

const REVIEWED = readWorkflow(
  {
    name: 'reviewed',
    steps: [
      { name: 'work', agent: 'auto' },
      { name: 'check', agent: 'claude', role: 'review' },
    ],
  },
  'workflow',
);

const [WORK = assert.fail()] = allSteps(REVIEWED);

function situation(work: WorkRecord = {}, routing: Routing = NO_ROUTING): Situation {
  return { workspace: 'alpha', agentStatuses: available, routing, work };
}

/** Adds outcomes to the record in the same way as the store. */
function booked(work: WorkRecord, bookings: readonly RecordedOutcomes[]): WorkRecord {
  return { ...work, ...Object.fromEntries(bookings.map((one) => [one.kind, withBooking(work[one.kind], one)])) };
}

function withBooking(before: KindRecord | undefined, booking: RecordedOutcomes): KindRecord {
  const { outcomes, bucket, tallies, faded } = booking;
  const { outcomes: known = 0, buckets = {} } = before ?? {};
  const own = { ...buckets[bucket] };
  for (const [agent, tally] of Object.entries(tallies)) {
    const total = (name: keyof OutcomeStats) => (tally[name] ?? 0) + (own[agent]?.[name] ?? 0);
    own[agent] = {
      accepted: total('accepted'),
      failed: total('failed'),
      lost: total('lost'),
      retried: total('retried'),
      worth: total('worth'),
      milliseconds: total('milliseconds'),
      cost_usd: total('cost_usd'),
    };
  }
  const left = Object.entries(buckets).filter(([one]) => !faded.includes(Number(one)));
  return { outcomes: known + outcomes, buckets: { ...Object.fromEntries(left), [bucket]: own } };
}

function stepBy(agent: string, name: string, role: 'execute' | 'review', output: string): StepRecord {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const identity = { call: 'answer', number: 1, agent, model: 'm', waited: 0 };
  const attempt = { ...identity, end: 'answered' as const, milliseconds: 1000, usage, cost_usd: 0.01 };
  return {
    ...startedStep({ name, iteration: 1 }, role, role === 'execute' ? 1 : 2, new Date(START)),
    status: 'succeeded',
    output,
    agents: [agent],
    attempts: [{ ...attempt, outcome_unknown: false }],
  };
}

/** Simulates runs of a workspace one after another, and returns the agent that each run used. */
function simulated(seed: number, runs: number, qualitiesAt: (run: number) => Qualities): string[] {
  const world = seededRandom(systemHashing, `world ${seed}`);
  let work: WorkRecord = {};
  return Array.from({ length: runs }, (_, run) => {
    const chance = seededRandom(systemHashing, `run-${seed}-${run}`);
    const { workflow } = assignAgents(REVIEWED, 'Do it.', situation(work), chance);
    const agent = allSteps(workflow)[0]?.agent ?? '';
    const quality = agent === 'claude' ? qualitiesAt(run).claude : qualitiesAt(run).gemini;
    const isGood = world.integer(1_000_000) < quality * 1_000_000;
    const records = [
      stepBy(agent, 'work', 'execute', 'Done.'),
      stepBy('claude', 'check', 'review', isGood ? 'APPROVED' : 'CHANGES'),
    ];
    work = booked(work, recordedOutcomesOf(work, outcomesOfRun(workflow, records, 'succeeded')));
    return agent;
  });
}

function share(agents: readonly string[], agent: string): number {
  return agents.filter((one) => one === agent).length / agents.length;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const SEEDS = Array.from({ length: process.env['MUSTER_NIGHTLY'] ? 400 : 40 }, (_, seed) => seed);

describe('routing that learns from outcomes', () => {
  // In the specification, gemini has the rating 0.95 and claude the rating 0.85 for the work "execute".
  const pairs: readonly (Qualities & { readonly better: 'claude' | 'gemini'; readonly prior: string })[] = [
    { claude: 0.9, gemini: 0.6, better: 'claude', prior: 'against' },
    { claude: 0.8, gemini: 0.5, better: 'claude', prior: 'against' },
    { claude: 0.6, gemini: 0.9, better: 'gemini', prior: 'for' },
    { claude: 0.5, gemini: 0.8, better: 'gemini', prior: 'for' },
  ];
  for (const { better, prior, ...qualities } of pairs) {
    const worse = better === 'claude' ? 'gemini' : 'claude';
    const swapped = { claude: qualities.gemini, gemini: qualities.claude };
    const named = `${better} succeeds at ${qualities[better]} and ${worse} at ${qualities[worse]}`;

    it(`prefers ${better} if ${named}, ${prior} the initial rating, and detects a change of quality`, () => {
      const all = SEEDS.map((seed) => simulated(seed, 400, (run) => (run < 300 ? qualities : swapped)));
      const after200 = all.map((agents) => share(agents.slice(200, 300), better));
      const held = after200.filter((one) => one >= 0.8).length / SEEDS.length;
      assert.ok(mean(after200) >= 0.8, `on average ${mean(after200)}`);
      assert.ok(held >= 0.8, `in ${held} of the seeds`);
      const moved = all.map((agents) => share(agents.slice(375, 400), worse));
      assert.ok(mean(moved) >= 0.8, `on average ${mean(moved)}`);
      const max = moved.filter((one) => one > 0.5).length / SEEDS.length;
      assert.ok(max >= 0.95, `most of it in ${max} of the seeds`);
    });
  }

  it('chooses the same agent again for the same run', () => {
    const once = simulated(7, 100, () => ({ claude: 0.7, gemini: 0.7 }));
    assert.deepEqual(
      simulated(7, 100, () => ({ claude: 0.7, gemini: 0.7 })),
      once,
    );
    assert.ok(share(once, 'claude') > 0 && share(once, 'gemini') > 0);
  });

  it('chooses no agent with a lower initial rating before outcomes are recorded', () => {
    const first = SEEDS.map((seed) => simulated(seed, 8, () => ({ claude: 1, gemini: 1 })));
    assert.deepEqual([...new Set(first.flat())], ['gemini']);
  });

  it('chooses by cost and time if two agents have the same quality', () => {
    const spent = { accepted: 20, failed: 0, lost: 0, retried: 0, worth: 20 };
    const record = {
      claude: { ...spent, milliseconds: 20_000, cost_usd: 0.02 },
      gemini: { ...spent, milliseconds: 200_000, cost_usd: 2 },
    };
    const work = { execute: { outcomes: 40, buckets: { 0: record } } };
    const ranked = recommend(available, { role: 'execute' }, { routing: NO_ROUTING, work });
    const rows = ranked.map(({ agent, score }) => [agent, score]);
    assert.deepEqual(rows, [
      ['claude', 0.97],
      ['gemini', 0.94],
    ]);
  });
});

describe('reasons for the choice of an agent', () => {
  const tally = { failed: 0, retried: 0, milliseconds: 12_800, cost_usd: 0.16 };
  const record = {
    claude: { ...tally, accepted: 14, lost: 2, worth: 14 },
    gemini: { ...tally, accepted: 7, lost: 2, worth: 7 },
  };
  const work = { execute: { outcomes: 25, buckets: { 2: record } } };
  const chosen = (routing?: Routing, changed: Partial<Situation> = {}, seed = 'run') => {
    const given = { ...situation(work, routing), ...changed };
    return assignAgents(REVIEWED, 'Do it.', given, seededRandom(systemHashing, seed)).reasons.join('\n');
  };
  const away = available.map((one) =>
    one.name === 'gemini' ? { ...one, availability: { available: false as const, reason: 'There is no key.' } } : one,
  );

  it('contain the outcomes of both agents in the workspace', () =>
    assert.equal(
      chosen(),
      'work: claude: Good execution capability, 14 of 16 answers for execute accepted here, on average 0.8 s and 0.01 USD (0.84); gemini: 7 of 9 answers for execute accepted here, on average 1.4 s and 0.0178 USD.',
    ));

  it('report that an agent with a lower score was tried to learn about it', () => {
    const reported = SEEDS.map((seed) => chosen(NO_ROUTING, {}, `run ${seed}`));
    const tried = reported.filter((one) => one.includes('tried occasionally although claude scores higher'));
    assert.ok(tried.length > 0 && tried.length < SEEDS.length / 2, `${tried.length}`);
    for (const one of tried) assert.match(one, /^work: gemini: /);
  });

  it('report that the workspace pins the agent although another agent has better outcomes', () => {
    const pins = [{ kind: 'execute', agent: 'gemini' }];
    const reported = SEEDS.map((seed) => chosen({ pins, forbidden: [] }, {}, `run ${seed}`));
    for (const one of reported) assert.match(one, /^work: gemini: Pinned for execute in this workspace, /);
  });

  it('report that the pinned agent is unavailable', () => {
    const pins = [{ kind: 'execute', agent: 'gemini' }];
    assert.match(
      chosen({ pins, forbidden: [] }, { agentStatuses: away }),
      /^work: claude: .*; gemini is pinned, but unavailable: There is no key\./,
    );
  });

  it('report that an agent is forbidden, and no agent is chosen if all are forbidden', async () => {
    const reported = SEEDS.map((seed) => chosen({ pins: [], forbidden: ['claude'] }, {}, `run ${seed}`));
    for (const one of reported) assert.match(one, /^work: gemini: .*; claude: forbidden in this workspace\.$/);
    const all = { pins: [], forbidden: ['claude', 'gemini'] };
    const { code, details } = await refusal(async () => chosen(all));
    assert.deepEqual([code, details.reason], ['FORBIDDEN', 'AGENT_FORBIDDEN']);
  });
});

describe('agent that a workspace forbids', () => {
  const given = situation({}, { pins: [{ kind: 'plan', agent: 'gemini' }], forbidden: ['claude'] });
  const rest = { input: 'Do it.', context: {}, budget: { tokens: 1000, cost_usd: 1 }, cache: false };
  const planned = builtIn('plan-execute') ?? assert.fail();
  const fieldOf = async (make: () => unknown) => {
    const { code, details } = await refusal(async () => make());
    assert.deepEqual([code, details.reason, details.value], ['FORBIDDEN', 'AGENT_FORBIDDEN', 'claude']);
    return details.field;
  };

  it('is rejected in every argument that can name it', async () => {
    const overrides = { agents: { plan: 'claude' } };
    assert.equal(await fieldOf(() => requestOf(planned, rest, overrides, given)), 'overrides.agents.plan');
    assert.equal(await fieldOf(() => requestOf(REVIEWED, rest, {}, given)), 'workflow');
    assert.equal(await fieldOf(() => parallelWorkflow(['gemini', 'claude'], 'all', 'plan', given)), 'agents');
    const preferring = () => requestFor({ prompt: 'Do it.' }, { agent: 'claude' }, { budget: rest.budget }, given);
    assert.equal(await fieldOf(preferring), 'preferences.agent');
  });

  it('is not a default agent of a parallel call', () => {
    const [only] = allSteps(parallelWorkflow([], 'all', 'plan', given));
    assert.deepEqual(only && agentsOf(only), ['gemini']);
  });

  it('differs from an agent that is merely not pinned, which a caller may still name', () => {
    const allowed = situation({}, { pins: [{ kind: 'plan', agent: 'gemini' }], forbidden: [] });
    const { workflow } = requestOf(planned, rest, { agents: { plan: 'claude' } }, allowed);
    assert.deepEqual(allSteps(workflow).flatMap(agentsOf), ['claude', 'gemini']);
    const own = requestOf({ ...planned, name: 'mine' }, rest, {}, allowed).workflow;
    assert.deepEqual(allSteps(own).flatMap(agentsOf), ['claude', 'gemini']);
  });

  it('is not considered when a workflow is selected', () => {
    const { selection } = requestFor({ prompt: 'Which is the best name?' }, {}, { budget: rest.budget }, given);
    assert.match(selection?.reasons[0] ?? '', /^direct: .*only one agent is available/);
  });
});

describe('built-in workflow in a workspace with pinned or forbidden agents', () => {
  const routed = (name: string, routing: Routing) => {
    const { workflow, reasons } = asRouted(builtIn(name) ?? assert.fail(), situation({}, routing));
    return [allSteps(workflow).map((step) => [step.name, ...agentsOf(step)].join(' ')), reasons] as const;
  };

  it('has the agent "auto" in each step whose agent is forbidden or is not the pinned agent', () => {
    const pins = [{ kind: 'plan', agent: 'gemini' }];
    assert.deepEqual(routed('plan-execute', { pins, forbidden: [] })[0], ['plan auto', 'execute gemini']);
    assert.deepEqual(routed('plan-execute', { pins: [], forbidden: ['gemini'] })[0], ['plan claude', 'execute auto']);
  });

  it('omits a forbidden agent, and also the judge if only one agent is left', () => {
    assert.deepEqual(routed('competitive', { pins: [], forbidden: ['gemini'] }), [
      ['compete claude'],
      ['compete: does not use gemini, because the workspace forbids it.'],
    ]);
    assert.deepEqual(routed('competitive', NO_ROUTING)[0], ['compete claude gemini', 'pick claude']);
  });

  it('is still valid after its forbidden agents are replaced or omitted', () => {
    const forbidden = { pins: [], forbidden: ['gemini'] };
    for (const name of ['direct', 'plan-execute', 'competitive', 'iterative', 'code-review']) {
      const { workflow } = asRouted(builtIn(name) ?? assert.fail(), situation({}, forbidden));
      assert.deepEqual(readWorkflow(JSON.stringify(workflow), 'workflow'), workflow);
    }
    assert.equal(WORK.role, 'execute');
  });
});
