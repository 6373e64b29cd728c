/** Runs whose database becomes unreachable, and runs with journal entries of a crashed instance. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';

import { isLeased } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { soon } from '../../support/soon.ts';
import { OrchestrationFixture } from './fixture.ts';

/** The error that a Firestore client throws after its last retry. */
const AWAY = new Error('14 UNAVAILABLE: No connection established');

const TOGETHER = {
  name: 'together',
  steps: [{ name: 'only', agents: ['claude', 'gemini'], mode: 'all', prompt: 'TOGETHER {{input}}' }],
};

const SIDE_BY_SIDE = {
  name: 'side-by-side',
  steps: [
    { name: 'left', agent: 'claude', parallel: true, prompt: 'LEFT {{input}}' },
    { name: 'right', agent: 'gemini', parallel: true, prompt: 'RIGHT {{input}}' },
  ],
};

describe('a run whose database is unreachable', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  beforeEach(() => {
    fixture.losing = true;
  });
  afterEach(() => fixture.assertAcceptable());

  /**
   * Returns an instance that loses its database at the first commit for which `isIt` is true after gemini was called.
   * @param comesBack whether only that commit fails
   */
  function cutOff(input: string, isIt: (change: Change) => boolean, comesBack: boolean) {
    const app = fixture.anotherInstance();
    const { store } = app.kernel;
    const commit = store.commit.bind(store);
    let isAway = false;
    store.commit = async (changes, settled) => {
      if (!isAway && changes.some(isIt)) {
        await soon(() => geminiAsked(input).length === 1);
        isAway = true;
        throw AWAY;
      }
      if (isAway && !comesBack) throw AWAY;
      return commit(changes, settled);
    };
    return app;
  }

  const geminiAsked = (input: string) => fixture.models.askedAbout(input).filter(({ vendor }) => vendor === 'gemini');
  const claudeAsked = (input: string) =>
    fixture.models.askedAbout(input).filter(({ vendor }) => vendor === 'anthropic');

  /** Starts a run that calls gemini. The response to its first request never arrives. */
  async function begin(workflow: object) {
    const input = fixture.question();
    fixture.models.when({ vendor: 'gemini', text: input, times: 1 }, { does: 'hang' });
    const { runId } = await fixture.begin(workflow, { input });
    return { input, runId };
  }

  it('aborts the other requests of the step, releases its lease, and can be resumed at once', async () => {
    const { input, runId } = await begin(TOGETHER);
    const app = cutOff(input, (change) => isCallOf('startCall', 'claude', change), true);
    await assert.rejects(app.services.runExecution.deliver({ runId }), AWAY);
    await soon(() => geminiAsked(input)[0]?.closedAt !== undefined);
    const { run: left, steps: none } = await fixture.view(runId);
    assert.deepEqual([isLeased(left, new Date(0)), none], [false, []]);

    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'done');
    const { run, steps } = await fixture.view(runId);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.deepEqual([claudeAsked(input).length, geminiAsked(input).length], [1, 2]);
    const interrupted = steps[0]?.attempts.filter(({ end }) => end === 'interrupted');
    const agents = interrupted?.map(({ agent }) => agent);
    assert.deepEqual(agents, ['gemini']);
  });

  it('aborts the requests of its other steps, and records no results of these steps', async () => {
    const { input, runId } = await begin(SIDE_BY_SIDE);
    const isIt = (change: Change): boolean => change.kind === 'recordStep' && change.step.name === 'left';
    await assert.rejects(cutOff(input, isIt, true).services.runExecution.deliver({ runId }), AWAY);
    await soon(() => geminiAsked(input)[0]?.closedAt !== undefined);
    const { run: left, steps: none } = await fixture.view(runId);
    assert.deepEqual([isLeased(left, new Date(0)), none], [false, []]);

    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'done');
    const { run } = await fixture.view(runId);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.deepEqual([claudeAsked(input).length, geminiAsked(input).length], [1, 2], 'the paid call is not repeated');
  });

  it('keeps its lease until the lease expires if the release fails', async () => {
    const { input, runId } = await begin(TOGETHER);
    const app = cutOff(input, (change) => isCallOf('completeCall', 'claude', change), false);
    await assert.rejects(app.services.runExecution.deliver({ runId }), AWAY);
    await soon(() => geminiAsked(input)[0]?.closedAt !== undefined);
    assert.equal(isLeased((await fixture.view(runId)).run, new Date(0)), true);
    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'busy');
    const later = fixture.anotherInstance(() => new Date(Date.now() + 60_000));
    assert.equal(await later.services.runExecution.deliver({ runId }), 'done');
    assert.equal((await fixture.view(runId)).run.status, 'succeeded');
  });
});

describe('the journal of a run', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  const ONE_STEP = { name: 'one-step', steps: [{ name: 'only', agent: 'claude' }] };

  /** Starts a run, and stores the response to a question, as if an instance had crashed after it stored this. */
  async function withRecord(asked: (input: string) => string) {
    fixture.losing = true;
    const input = fixture.question();
    const { runId } = await fixture.begin(ONE_STEP, { input });
    const { hashing, store } = fixture.app.kernel;
    const { runs } = fixture.app.orchestration.ports;
    const found = await runs.find(runId);
    assert.ok(found);
    const usage = { input_tokens: 7, output_tokens: 11 };
    const made = { call: 'answer', number: 1, agent: 'claude', model: 'claude-local', waited: 0 };
    const attempt = { ...made, end: 'answered', milliseconds: 5, usage, cost_usd: 0.5 } as const;
    const entry = {
      ...made,
      id: 'the-recorded-call',
      step: 'only.1',
      repetition: 0,
      input_hash: hashing.sha256(JSON.stringify([null, asked(input)])),
      input_tokens: 10,
      max_output_tokens: 10,
      started_at: new Date(),
      ending: {
        at: new Date(),
        attempt: { ...attempt, outcome_unknown: false },
        settled: { answer: { text: 'from the record', model: 'claude-local', usage, complete: true } },
      },
    };
    await store.commit([
      { kind: 'startCall', runId, entry },
      { kind: 'completeCall', runId, entry },
      { kind: 'replaceRun', before: found.value, run: { ...found.value, epoch: 1 }, version: found.version },
    ]);
    await fixture.deliver(runId);
    return { input, ...(await fixture.view(runId)) };
  }

  it('provides the response to a call that an instance made before it crashed', async () => {
    const { input, run, steps } = await withRecord((question) => question);
    assert.deepEqual([steps[0]?.output, run.spent.cost_usd], ['from the record', 0.5]);
    assert.equal(fixture.models.askedAbout(input).length, 0);
    assert.deepEqual(run.warnings, []);
  });

  it('does not provide a response to another input', async () => {
    const { input, run, steps } = await withRecord(() => 'another question');
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.notEqual(steps[0]?.output, 'from the record');
    assert.equal(fixture.models.askedAbout(input).length, 1);
    const found = steps[0]?.attempts.map(({ cost_usd: costUsd }) => costUsd > 0);
    assert.deepEqual(found, [true, true], 'both calls were paid');
    assert.ok(run.spent.cost_usd > 0.5);
    assert.match(run.warnings.join(), /call to claude was repeated, because the input of the call has changed/);
    assert.equal((await fixture.journal(run.id, 'only')).length, 2);
  });
});

describe('a step of several agents', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  it('aborts its other calls if one call has an unknown outcome and must not be repeated', async () => {
    fixture.losing = true;
    const input = fixture.question();
    fixture.models.when({ vendor: 'gemini', text: input }, { does: 'hang' });
    const [step] = TOGETHER.steps;
    const workflow = { name: 'once', steps: [{ ...step, repeatable: false }] };
    const { runId } = await fixture.begin(workflow, { input });
    const { runs } = fixture.app.orchestration.ports;
    const { store } = fixture.app.kernel;
    const found = await runs.find(runId);
    assert.ok(found);
    const made = { call: 'answer:claude', number: 1, agent: 'claude', model: 'claude-local', waited: 0 };
    const about = { id: 'a-call-of-the-dead', step: 'only.1', repetition: 0, input_hash: '' };
    const entry = { ...made, ...about, input_tokens: 10, max_output_tokens: 10, started_at: new Date() };
    await store.commit([
      { kind: 'startCall', runId, entry },
      { kind: 'replaceRun', before: found.value, run: { ...found.value, epoch: 1 }, version: found.version },
    ]);
    await fixture.deliver(runId);
    const { run, steps } = await fixture.view(runId);
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'OUTCOME_UNKNOWN']);
    assert.equal(steps.length, 1);
    const entries = await fixture.journal(runId, 'only');
    const gemini = entries.find(({ agent }) => agent === 'gemini');
    assert.equal(gemini?.ending?.attempt.end, 'aborted');
    await soon(() => fixture.models.askedAbout(input).every(({ closedAt }) => closedAt !== undefined));
  });
});

function isCallOf(kind: 'startCall' | 'completeCall', agent: string, change: Change): boolean {
  return change.kind === kind && change.entry.agent === agent;
}
