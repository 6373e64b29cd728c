/** Runs that cannot be executed: they fail with a reason after a few deliveries. */
import assert from 'node:assert/strict';
import { Firestore } from '@google-cloud/firestore';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { HostedAgent } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { isLeased, MAX_DELIVERIES } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { requireNotFailed } from '../../../functions/src/toolsets/orchestration/tools/runResponses.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { PROFILES } from '../../support/models/agents.ts';
import { agentsAt, FIVE_STEPS, OrchestrationFixture } from './fixture.ts';

const BUG = new TypeError("Cannot read properties of undefined (reading 'text')");
const ONE_STEP = { name: 'one-step', steps: [{ name: 'only', agent: 'claude', prompt: '{{input}}' }] };

describe('a run that cannot be executed', () => {
  const fixture = new OrchestrationFixture();
  const documents = new Firestore();
  before(() => fixture.start());
  after(async () => {
    await fixture.stop();
    await documents.terminate();
  });
  beforeEach(() => {
    fixture.losing = true;
  });
  afterEach(() => fixture.assertAcceptable());

  /** Returns an instance whose agent gemini throws an unexpected error. */
  function withBrokenGemini(): Composition {
    const ask: HostedAgent['ask'] = () => Promise.reject(BUG);
    const hosted = () =>
      agentsAt(fixture.models.url).map((agent): HostedAgent => {
        const profile = PROFILES.find(({ name }) => name === agent.name) ?? assert.fail();
        return agent.name === 'gemini' ? { ...profile, availability: () => agent.availability(), ask } : agent;
      });
    return compose(
      externalServicesOf({ clock: { now: () => new Date() }, hosted, dispatch: { dispatch: async () => undefined } }),
    );
  }

  it('fails with a reason after the maximum number of deliveries, and is not delivered again', async () => {
    const { runId } = await fixture.begin(ONE_STEP);
    await documents.doc(`runs/${runId}/order/1`).update({ workflow: '{"from": "another world"}' });
    const reported = fixture.ended(runId);
    for (let delivery = 1; delivery <= MAX_DELIVERIES; delivery++) {
      await assert.rejects(fixture.app.services.runExecution.deliver({ runId }), MusterError);
      const { run: left } = await fixture.view(runId);
      assert.equal(isLeased(left, new Date(0)), false, 'the run is released for the next delivery');
      assert.equal(left.status, delivery < MAX_DELIVERIES ? 'running' : 'failed');
    }
    const { run } = await reported;
    assert.deepEqual([run.failure?.reason, run.due_at], ['EXECUTION_FAILED', undefined]);
    assert.match(
      run.failure?.message ?? '',
      new RegExp(`5 times.*The stored document "runs/${runId}/order/1" cannot be read\\.`),
    );
    assert.throws(
      () => requireNotFailed(run),
      (error) => error instanceof MusterError && error.code === 'INTERNAL' && error.details.about?.['runId'] === runId,
    );
    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'done');
  });

  it('fails without revealing the text of an unexpected error, and keeps the cost of its calls', async () => {
    const workflow = {
      name: 'half',
      steps: [
        { name: 'good', agent: 'claude', prompt: 'GOOD {{input}}' },
        { name: 'half', agents: ['claude', 'gemini'], prompt: 'HALF {{input}}' },
      ],
    };
    const input = fixture.question();
    const { runId } = await fixture.begin(workflow, { input });
    const app = withBrokenGemini();
    // The first delivery completes a step, so it does not count towards the maximum.
    for (let delivery = 0; delivery <= MAX_DELIVERIES; delivery++)
      await assert.rejects(app.services.runExecution.deliver({ runId }), BUG);
    const { run, steps } = await fixture.view(runId);
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'EXECUTION_FAILED']);
    assert.doesNotMatch(run.failure?.message ?? '', /undefined|TypeError/);
    const states = steps.map(({ name, status }) => [name, status]);
    assert.deepEqual(states, [['good', 'succeeded']]);
    const [good] = steps;
    assert.ok(good && run.spent.cost_usd > good.spent.cost_usd, 'the calls of the failed step are recorded');
    assert.equal(fixture.models.askedAbout(`GOOD ${input}`).length, 1);
  });

  it('succeeds if each delivery completes at least one step', async () => {
    const { runId } = await fixture.begin(FIVE_STEPS);
    const app = fixture.anotherInstance();
    const { store } = app.kernel;
    const commit = store.commit.bind(store);
    const broken = new Set<string>();
    store.commit = async (changes, settled) => {
      const step = changes.flatMap((change) => (change.kind === 'recordStep' ? change.step.name : []))[0];
      if (step === undefined || broken.has(step)) return commit(changes, settled);
      broken.add(step);
      throw BUG;
    };
    for (const _ of FIVE_STEPS.steps) await assert.rejects(app.services.runExecution.deliver({ runId }), BUG);
    assert.equal(await app.services.runExecution.deliver({ runId }), 'done');
    assert.equal((await fixture.view(runId)).run.status, 'succeeded');
  });

  it('fails without another model call if instances crashed during all deliveries', async () => {
    const input = fixture.question();
    const { runId } = await fixture.begin(ONE_STEP, { input });
    const { runs } = fixture.app.orchestration.ports;
    const { store } = fixture.app.kernel;
    const found = await runs.find(runId);
    assert.ok(found);
    const run = { ...found.value, status: 'running', epoch: 5, deliveries: MAX_DELIVERIES } as const;
    await store.commit([{ kind: 'replaceRun', before: found.value, run, version: found.version }]);
    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'done');
    const { run: ended } = await fixture.view(runId);
    assert.deepEqual([ended.status, ended.failure?.reason], ['failed', 'EXECUTION_FAILED']);
    assert.equal(fixture.models.askedAbout(input).length, 0);
  });

  it('is not delivered again if its document is unreadable', async () => {
    const { runId } = await fixture.begin(ONE_STEP);
    await documents.doc(`runs/${runId}`).update({ status: 'levitating' });
    assert.equal(await fixture.app.services.runExecution.deliver({ runId }), 'done');
  });
});

describe('a model response that is too large for the journal', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  const LARGE = { does: 'answer', text: 'x'.repeat(2_000_000), pieces: 20 } as const;

  it('is paid once, and another agent responds', async () => {
    const input = fixture.question();
    fixture.models.when({ vendor: 'anthropic', text: input }, LARGE);
    const { run, steps } = await fixture.run(ONE_STEP, { input });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const rows = steps[0]?.attempts.map(({ agent, end, cost_usd: costUsd }) => [agent, end, costUsd > 0]);
    assert.deepEqual(rows, [
      ['claude', 'malformed', true],
      ['gemini', 'answered', true],
    ]);
    assert.match(run.warnings.join(), /The response of claude has 2000000 bytes; the limit is 800000\./);
  });

  it('from every agent is paid once per agent; the run fails, and states size and cost', async () => {
    const input = fixture.question();
    fixture.models.when({ text: input }, LARGE);
    const { run } = await fixture.run(ONE_STEP, { input });
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'MALFORMED']);
    assert.match(run.failure?.message ?? '', /2000000 bytes/);
    assert.equal(fixture.models.askedAbout(input).length, 2);
    assert.ok(run.spent.output_tokens > 0 && run.spent.cost_usd > 0);
  });
});

describe('a prompt that cannot be built', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  it('makes the starting call fail if its size is known at the start', async () => {
    const workflow = { name: 'many', steps: [{ name: 'only', prompt: '{{input}}'.repeat(2200) }] };
    await assert.rejects(fixture.begin(workflow, { input: 'x'.repeat(380_000) }), (error) => {
      assert.ok(error instanceof MusterError);
      assert.deepEqual(
        [error.code, error.details.field, error.details.reason],
        ['VALIDATION_ERROR', 'workflow', 'PROMPT_TOO_LARGE'],
      );
      assert.match(error.message, /^Step "only": .*With \{\{input\}\} \(380000 characters\)/);
      return true;
    });
  });

  it('makes its step and run fail if its size is known only later; earlier steps are kept', async () => {
    const steps = [
      { name: 'one', agent: 'claude' },
      { name: 'two', prompt: '{{input}}'.repeat(2200) },
    ];
    const { run, steps: records } = await fixture.run({ name: 'many', steps }, { input: 'x'.repeat(380_000) });
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'PROMPT_TOO_LARGE']);
    assert.match(run.failure?.message ?? '', /^Step "two": The prompt could not be built: With \{\{input\}\}/);
    const rows = records.map(({ name, status }) => [name, status]);
    assert.deepEqual(rows, [
      ['one', 'succeeded'],
      ['two', 'failed'],
    ]);
    assert.ok(run.spent.cost_usd > 0);
  });
});
