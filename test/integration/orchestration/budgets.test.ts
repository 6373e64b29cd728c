/** Budgets of runs. Cost is reserved before a model call and settled afterwards, even if instances crash. */
import assert from 'node:assert/strict';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { type BudgetKind, budgetKey } from '../../../functions/src/graph/rules/budget.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { budgetPath, COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import { isEnded, type Run } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { usageOf } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { execute } from './crashPoint.ts';
import { OrchestrationFixture } from './fixture.ts';

const [RUNS, INSTANCES] = [100, 10];

const step = (name: string, more = {}) => ({
  name,
  agent: 'claude',
  prompt: `${name} {{input}}`,
  maxOutputTokens: 100,
  ...more,
});

const THREE = { name: 'three', steps: [step('one'), step('two'), step('three')] };
const ONE = { name: 'one', steps: [step('one')] };

describe('a budget of runs', function () {
  this.timeout('5m');
  let fixture: OrchestrationFixture;

  beforeEach(async () => {
    fixture = new OrchestrationFixture();
    await fixture.start();
  });
  afterEach(async () => {
    await fixture.stop();
    fixture.assertAcceptable();
  });

  async function limit(tokens: number | undefined, kind: BudgetKind = 'workspace', id = fixture.workspace) {
    const { budgets } = fixture.app.graph.ports;
    const { store } = fixture.app.kernel;
    const before = await budgets.find(budgetKey({ kind, thing_id: id }));
    const budget = {
      kind,
      thing_id: id,
      workspace: fixture.workspace,
      owner_uid: fixture.owner,
      set_at: new Date(),
      round: (before?.value.round ?? 0) + 1,
      ...(tokens !== undefined && { tokens }),
    };
    await store.commit([{ kind: 'setBudget', budget, before }]);
    return budgetKey(budget);
  }

  async function counts(key = budgetKey({ kind: 'workspace', thing_id: fixture.workspace })) {
    const { budgets } = fixture.app.graph.ports;
    const found = await budgets.find(key);
    const [counted] = await budgets.counted(found ? [found.value] : []);
    assert.ok(counted);
    return counted.counts;
  }

  /** Runs the trigger for a changed budget twice, because events can be repeated. */
  async function follow(key: string): Promise<void> {
    const written = (await firestore().doc(budgetPath(key)).get()).data();
    for (const _ of [1, 2]) await fixture.app.services.followBudget(written);
  }

  const runOf = async (id: string): Promise<Run> => {
    const found = await fixture.app.orchestration.ports.runs.find(id);
    assert.ok(found);
    return found.value;
  };

  const journalOf = async (ids: readonly string[]) =>
    (await Promise.all(ids.map((id) => fixture.app.orchestration.ports.runs.calls(id)))).map((entries) =>
      entries.flatMap(({ ending }) => ending?.attempt ?? []),
    );

  const asked = async () => {
    const own = firestore().collection(COLLECTIONS.requests).where('asked_of', '==', fixture.owner);
    return (await own.get()).docs.map((document) => document.data());
  };

  const settled = (run: Run) => isEnded(run) || run.budget_wait !== undefined;

  /** Delivers each run until it has ended or waits for an exhausted budget. */
  async function deliverAll(ids: readonly string[], instances: readonly Composition[]): Promise<readonly Run[]> {
    const deliver = async (id: string, index: number): Promise<Run> => {
      for (;;) {
        const run = await fixture.until(id, (one) => settled(one) || one.lease_expires_at === undefined);
        if (isEnded(run) || run.budget_wait?.is_spent) return run;
        await fixture.deliver(id, instances[index % instances.length]);
      }
    };
    return Promise.all(ids.map(deliver));
  }

  it('is exceeded by at most one call per run if 100 runs on 10 instances share it', async () => {
    const instances = Array.from({ length: INSTANCES }, () => fixture.anotherInstance());
    fixture.losing = true;
    const TOKENS = 2000;
    const key = await limit(TOKENS);
    const started = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => fixture.begin(THREE, {}, instances[index % INSTANCES])),
    );
    const ids = started.map(({ runId }) => runId);
    const runs = await deliverAll(ids, instances);

    const journal = await journalOf(ids);
    const tokensOf = (of: (typeof journal)[number]) => {
      const { input_tokens: inputTokens, output_tokens: outputTokens } = usageOf(of);
      return inputTokens + outputTokens;
    };
    const inFlight = journal.reduce((sum, of) => sum + Math.max(0, ...of.map((one) => tokensOf([one]))), 0);
    const { spent, reserved } = await counts();
    assert.equal(spent.tokens, tokensOf(journal.flat()), 'the spent tokens equal the usage in the journals');
    assert.deepEqual(reserved, { nano_usd: 0, tokens: 0 });
    assert.ok(spent.tokens > TOKENS / 2 && spent.tokens <= TOKENS + inFlight, `${spent.tokens} of ${TOKENS}`);
    assert.ok(journal.flat().length < RUNS * THREE.steps.length, 'the budget has prevented some calls');

    const waiting = runs.filter(({ status }) => status === 'waiting');
    assert.ok(waiting.length > 0);
    assert.ok(waiting.every(({ budget_wait: budgetWait }) => budgetWait?.key === key));
    const { run } = await fixture.view(String(waiting[0]?.id));
    assert.equal(run.failure, undefined);
    assert.equal((await asked()).length, 1, 'one question was asked');

    fixture.losing = false;
    await limit(undefined);
    await follow(key);
    for (const id of ids) assert.equal((await fixture.ended(id)).run.status, 'succeeded');
    const [question] = await asked();
    assert.equal(question?.['state'], 'withdrawn', 'the question is withdrawn');
    const all = await journalOf(ids);
    for (const of of all) assert.equal(of.length, THREE.steps.length, 'no paid call was repeated');
  });

  it('is reserved during a model call and settled afterwards', async () => {
    fixture.losing = true;
    const [first, second] = await Promise.all([fixture.begin(ONE), fixture.begin(ONE)]);
    // The limit is enough for about one and a half of these calls.
    await limit(200);
    fixture.models.when({ text: 'one', times: 1 }, { does: 'answer', company: 2 });
    const going = fixture.deliver(first.runId);
    await fixture.models.arrival('one');
    const during = await counts();
    assert.ok(during.reserved.tokens > 100 && during.reserved.nano_usd > 0);
    await fixture.deliver(second.runId);
    const { status, budget_wait: budgetWait } = await runOf(second.runId);
    assert.deepEqual([status, budgetWait?.is_spent], ['waiting', false]);
    assert.deepEqual(await asked(), [], 'no question, because the other call will be settled');
    const elsewhere = await fixture.begin(ONE, {}, fixture.app, `${fixture.workspace}-2`);
    await Promise.all([going, fixture.deliver(elsewhere.runId)]);
    await deliverAll([first.runId, second.runId], [fixture.app]);
    for (const { runId } of [first, second]) assert.equal((await runOf(runId)).status, 'succeeded');
    assert.deepEqual((await counts()).reserved, { nano_usd: 0, tokens: 0 });
  });

  it("that is set for one run limits only this run; waiting for it extends the run's deadline", async () => {
    fixture.losing = true;
    const [{ runId }, other] = await Promise.all([fixture.begin(THREE), fixture.begin(ONE)]);
    const key = await limit(0, 'run', runId);
    await fixture.deliver(runId);
    const { budget_wait: budgetWait, deadline, status } = await runOf(runId);
    assert.deepEqual([status, budgetWait?.key, budgetWait?.is_spent], ['waiting', key, true]);
    const view = await fixture.view(runId);
    const [shown] = view.budgets;
    assert.deepEqual([shown?.budget.tokens, shown?.counts.spent.tokens, view.budgets.length], [0, 0, 1]);
    await fixture.deliver(other.runId);
    assert.equal((await runOf(other.runId)).status, 'succeeded');
    const later = fixture.anotherInstance(() => new Date(Date.now() + 3_600_000));
    await limit(10_000, 'run', runId);
    await fixture.deliver(runId, later);
    const after = await runOf(runId);
    assert.equal(after.status, 'succeeded', JSON.stringify(after.failure));
    assert.ok(after.deadline.getTime() - deadline.getTime() > 3_500_000);
  });

  it('is settled by the sweep if the instance was killed before it settled a call', async () => {
    fixture.losing = true;
    const key = await limit(100_000);
    const { runId } = await fixture.begin(ONE);
    const crashPoint = { runId, modelsUrl: fixture.models.url, step: 'one.1' };
    assert.equal(await execute({ ...crashPoint, at: 'before the answer is recorded' }), 'SIGKILL');
    const { reserved, spent } = await counts();
    assert.ok(reserved.tokens > 100);
    assert.deepEqual(spent, { nano_usd: 0, tokens: 0 });
    // Later than the time limit of a step.
    const later = fixture.anotherInstance(() => new Date(Date.now() + 3_600_000));
    const sweeping = () => later.services.budgetSweep.sweepJob.run(sweepContextAt(later.kernel.clock.now()));
    await Promise.all([sweeping(), sweeping()]);
    const swept = await counts();
    assert.deepEqual(swept, { reserved: { nano_usd: 0, tokens: 0 }, spent: reserved }, 'settled at the maximum cost');
    await fixture.deliver(runId, later);
    const { run } = await fixture.view(runId);
    assert.equal(run.status, 'succeeded');
    const after = await counts(key);
    assert.equal(after.spent.tokens, run.spent.input_tokens + run.spent.output_tokens, 'the usage of the run');
    assert.deepEqual(after.reserved, { nano_usd: 0, tokens: 0 });
  });

  it('does not affect a run that was cancelled while it waited for the budget', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(THREE);
    await limit(0, 'run', runId);
    await fixture.deliver(runId);
    await fixture.app.services.orchestration.runs.cancel(fixture.principal, runId, () => undefined);
    const run = await runOf(runId);
    assert.deepEqual([run.status, run.budget_wait], ['cancelled', undefined]);
  });
});
