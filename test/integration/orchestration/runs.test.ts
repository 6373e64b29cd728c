import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { MIN_OUTPUT_TOKENS } from '../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import type { RunRequest } from '../../../functions/src/toolsets/orchestration/rules/runs/order.ts';
import { isEnded } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { addUsage } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { runShape } from '../../../functions/src/toolsets/orchestration/tools/orchestrationResponses.ts';
import { runResponse } from '../../../functions/src/toolsets/orchestration/tools/runResponses.ts';
import { agentOf, personOf } from '../../support/principals.ts';
import { refusal } from '../../support/refusal.ts';
import { soon } from '../../support/soon.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { Team } from '../coordination/team.ts';
import { FIVE_STEPS, OrchestrationFixture, unkeyed } from './fixture.ts';

const ONE_STEP = { name: 'one-step', steps: [{ name: 'only', agent: 'claude' }] };

describe('a run', () => {
  const fixture = new OrchestrationFixture();
  const { services, coordination, orchestration, access, kernel } = fixture.app;
  const { runs } = services.orchestration;
  before(() => fixture.start());
  after(() => fixture.stop());
  beforeEach(() => {
    fixture.losing = false;
  });
  afterEach(() => fixture.assertAcceptable());

  it('executes its steps in order, each with the result of the previous step', async () => {
    const { run, steps } = await fixture.run(FIVE_STEPS);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const rows = steps.map(({ number, name, status, agents }) => [number, name, status, agents]);
    assert.deepEqual(rows, [
      [1, 'one', 'succeeded', ['claude']],
      [2, 'two', 'succeeded', ['gemini']],
      [3, 'three', 'succeeded', ['claude']],
      [4, 'four', 'succeeded', ['gemini']],
      [5, 'five', 'succeeded', ['claude']],
    ]);
    assert.equal(run.result_step, 'five.1');
    const outputTokens = steps.reduce((sum, step) => sum + step.spent.output_tokens, 0);
    assert.ok(outputTokens > 0 && run.spent.output_tokens === outputTokens);
  });

  it('needs one commit per step, and is not read again between two steps', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(FIVE_STEPS);
    const app = fixture.anotherInstance();
    const [{ store }, queries] = [app.kernel, app.orchestration.ports.runs];
    const [commit, find] = [store.commit.bind(store), queries.find.bind(queries)];
    const done: string[] = [];
    store.commit = (changes, record) => {
      // Commits of only the run take or renew its lease.
      if (changes.length > 1) done.push(changes.map(({ kind }) => kind).join(' '));
      return commit(changes, record);
    };
    queries.find = (id) => {
      done.push('read');
      return find(id);
    };
    await app.services.runExecution.deliver({ runId });
    const settled = 'replaceRun completeCall recordStep measureAgent';
    const steps = FIVE_STEPS.steps.slice(1).map(() => `${settled} startCall`);
    assert.deepEqual(done, ['read', 'replaceRun startCall', ...steps, `${settled} recordOutcomes`]);
  });

  it('reads its order while its lease is stored, and no steps in its first execution', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(ONE_STEP);
    const app = fixture.anotherInstance();
    const [{ store }, queries] = [app.kernel, app.orchestration.ports.runs];
    const [commit, order] = [store.commit.bind(store), queries.order.bind(queries)];
    const orderRead = new Promise<void>((resolve) => {
      queries.order = (id) => order(id).finally(resolve);
    });
    store.commit = (changes, record) => orderRead.then(() => commit(changes, record));
    queries.steps = () => assert.fail('The steps were read.');
    await app.services.runExecution.deliver({ runId });
    assert.equal((await fixture.view(runId)).run.status, 'succeeded');
  });

  it('is executed once if it is delivered several times', async () => {
    fixture.losing = true;
    const input = fixture.question();
    const { runId } = await fixture.begin(FIVE_STEPS, { input });
    const other = fixture.anotherInstance();
    await Promise.all([fixture.deliver(runId), fixture.deliver(runId, other), fixture.deliver(runId)]);
    assert.equal((await fixture.view(runId)).run.status, 'succeeded');
    assert.equal(fixture.models.askedAbout(input).length, 5);
  });

  it('is dispatched again by the sweep if its dispatch was lost', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(ONE_STEP);
    fixture.losing = false;
    assert.equal(fixture.dispatched.filter((id) => id === runId).length, 1);
    const inTwoMinutes = new Date(Date.now() + 120_000);
    const later = fixture.anotherInstance(() => inTwoMinutes);
    await later.services.orchestration.runs.sweepJob.run(sweepContextAt(inTwoMinutes));
    assert.equal((await fixture.ended(runId)).run.status, 'succeeded');
  });

  it('is dispatched by another, equal call if an instance crashed before the dispatch', async () => {
    const input = fixture.question();
    fixture.losing = true;
    const { runId } = await fixture.begin(ONE_STEP, { input, cache: true });
    fixture.losing = false;
    assert.deepEqual(await fixture.begin(ONE_STEP, { input, cache: true }), { runId, cached: true });
    assert.equal((await fixture.ended(runId)).run.status, 'succeeded');
  });

  it('is dispatched by the repeated call if an instance crashed before the dispatch', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(ONE_STEP);
    fixture.losing = false;
    await fixture.app.services.orchestration.runs.dispatchPending(runId);
    assert.equal((await fixture.ended(runId)).run.status, 'succeeded');
    await fixture.app.services.orchestration.runs.dispatchPending(runId);
    assert.equal(fixture.dispatched.filter((id) => id === runId).length, 2, 'a started run is not dispatched again');
  });

  it('exceeds its budget by at most the cost of one call in progress', async () => {
    const input = fixture.question();
    // A little more than the smallest allowed call needs. Two or three calls use it up.
    const tokens = MIN_OUTPUT_TOKENS + 200;
    const { run, steps } = await fixture.run(FIVE_STEPS, { input, budget: { tokens, cost_usd: 10 } });
    const { input_tokens: inputTokens, output_tokens: outputTokens } = run.spent;
    const largestStep = Math.max(...steps.map(({ spent }) => spent.input_tokens + spent.output_tokens));
    assert.ok(inputTokens + outputTokens <= tokens + largestStep, `${inputTokens} + ${outputTokens}`);
    assert.equal(run.status, 'failed');
    assert.equal(run.failure?.reason, 'BUDGET_EXHAUSTED', run.failure?.message);
    const asked = fixture.models.askedAbout(input).length;
    assert.ok(asked > 0 && asked < 5, String(asked));
  });

  it('is started only once by equal calls on two instances, and reused for five minutes', async () => {
    const input = fixture.question();
    const other = fixture.anotherInstance();
    const [first, second] = await Promise.all([
      fixture.begin(ONE_STEP, { input, cache: true }),
      fixture.begin(ONE_STEP, { input, cache: true }, other),
    ]);
    assert.equal(first.runId, second.runId);
    assert.deepEqual([first.cached, second.cached].sort(), [false, true]);
    await fixture.ended(first.runId);
    const third = await fixture.begin(ONE_STEP, { input, cache: true });
    assert.deepEqual(third, { runId: first.runId, cached: true });
    assert.equal(fixture.models.askedAbout(input).length, 1);

    const fresh = await fixture.begin(ONE_STEP, { input });
    assert.equal(fresh.cached, false);
    const stale = fixture.anotherInstance(() => new Date(Date.now() + 301_000));
    const later = await fixture.begin(ONE_STEP, { input, cache: true }, stale);
    assert.equal(later.cached, false);
    await Promise.all([fresh, later].map(({ runId }) => fixture.ended(runId)));
  });

  it('is not shared by equal calls if it has live agents or steps that must not be repeated', async () => {
    const network = { name: 'out', agent: 'network', prompt: 'deploy {{input}}' };
    const careful = { name: 'once', agent: 'claude', repeatable: false };
    const grouped = { repeat: { until: 'true', max: 2 }, steps: [{ name: 'ask', agent: 'claude' }, network] };
    for (const steps of [[network], [careful], [grouped]]) {
      const changed = { input: fixture.question(), cache: true };
      const first = await fixture.begin({ name: 'w', steps }, changed);
      const again = await fixture.begin({ name: 'w', steps }, changed);
      await fixture.until(first.runId, (run) => isEnded(run) || run.status === 'waiting');
      const later = await fixture.begin({ name: 'w', steps }, changed);
      const cached = [first, again, later].map((run) => run.cached);
      assert.deepEqual(cached, [false, false, false]);
      assert.equal(new Set([first, again, later].map(({ runId }) => runId)).size, 3);
      for (const { runId } of [first, again, later]) {
        const run = await fixture.until(runId, (one) => isEnded(one) || one.status === 'waiting');
        if (isEnded(run)) continue;
        await fixture.app.services.orchestration.runs.cancel(fixture.principal, runId, () => undefined);
      }
    }
  });

  it('pays each model call once if its instances crash, including truncated answers and judges', async () => {
    const input = fixture.question();
    const workflow = {
      name: 'judged',
      steps: [
        { name: 'all', agents: ['claude', 'gemini'], prompt: 'ANSWER {{input}}', maxOutputTokens: 100 },
        { name: 'best', agent: 'claude', picks: 'all', prompt: 'BEST {{input}}' },
      ],
    };
    const { models } = fixture;
    models.when({ text: 'Your first answer has no line' }, { does: 'answer', text: 'Final ranking: B > A' });
    models.when({ text: `ANSWER ${input}` }, { does: 'answer', text: 'Fine.' });
    models.when({ text: `ANSWER ${input}`, times: 1 }, { does: 'answer', text: '', thinks: 'Hm.', end: 'limit' });
    fixture.losing = true;
    const { runId } = await fixture.begin(workflow, { input });
    const dying = fixture.anotherInstance();
    const { store } = dying.kernel;
    const commit = store.commit.bind(store);
    store.commit = async (changes, settled) => {
      if (changes.some(({ kind }) => kind === 'recordStep')) throw new Error('This instance has crashed.');
      return commit(changes, settled);
    };
    // Each step is executed by an instance that crashes before it records the step, and then by another instance.
    await assert.rejects(dying.services.runExecution.deliver({ runId }), /crashed/);
    let steps = 0;
    const recording = fixture.anotherInstance();
    const record = recording.kernel.store.commit.bind(recording.kernel.store);
    recording.kernel.store.commit = async (changes, settled) => {
      const isStep = changes.some(({ kind }) => kind === 'recordStep');
      if (isStep && steps++ === 1) throw new Error('This instance has crashed.');
      return record(changes, settled);
    };
    await assert.rejects(recording.services.runExecution.deliver({ runId }), /crashed/);
    await fixture.deliver(runId);
    fixture.losing = false;
    const { run, steps: done } = await fixture.view(runId);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.equal(models.askedAbout(`ANSWER ${input}`).length, 3, 'two answers, one of them requested twice');
    assert.equal(models.askedAbout(`BEST ${input}`).length, 2, 'the judge was asked twice');
    const [all, best] = done;
    assert.deepEqual(all?.attempts.map(({ end }) => end).sort(), ['answered', 'answered', 'truncated']);
    assert.deepEqual([best?.attempts.length, best?.judged], [2, true]);
    assert.deepEqual(all && best && addUsage(all.spent, best.spent), run.spent);
  });

  it('does not cache failed answers for later runs', async () => {
    const input = fixture.question();
    fixture.models.when({ text: input, times: 2 }, { does: 'error', status: 401 });
    const { runId } = await fixture.begin(ONE_STEP, { input, cache: true });
    const { run } = await fixture.ended(runId);
    assert.deepEqual([run.status, run.failure?.reason], ['failed', 'AUTHENTICATION']);
    const again = await fixture.begin(ONE_STEP, { input, cache: true });
    assert.equal(again.cached, false);
    assert.equal((await fixture.ended(again.runId)).run.status, 'succeeded');
  });

  it('aborts its requests when cancelled, and keeps completed steps', async () => {
    const input = fixture.question();
    fixture.models.when({ text: `TWO ${input}` }, { does: 'hang' });
    const { runId } = await fixture.begin(FIVE_STEPS, { input });
    await fixture.until(
      runId,
      ({ steps_settled: stepsSettled, current }) => stepsSettled === 1 && current.includes('two'),
    );
    await soon(() => fixture.models.askedAbout(`TWO ${input}`).length === 1);
    await runs.cancel(fixture.principal, runId, unkeyed);
    const { run, steps } = await fixture.ended(runId);
    assert.equal(run.status, 'cancelled');
    assert.deepEqual([steps[0]?.name, steps[0]?.status], ['one', 'succeeded']);
    await soon(() => fixture.models.askedAbout(`TWO ${input}`)[0]?.closedAt !== undefined);
    assert.equal(fixture.models.askedAbout(input).length, 2);
    const repeated = await runs.cancel(fixture.principal, runId, unkeyed);
    assert.equal(repeated.status, 'cancelled');
  });

  it('cannot be cancelled after its end', async () => {
    const { run } = await fixture.run(ONE_STEP);
    await assert.rejects(runs.cancel(fixture.principal, run.id, unkeyed), codeIs('CONFLICT'));
  });

  it('is cancelled immediately if no instance executes it', async () => {
    fixture.losing = true;
    const { runId } = await fixture.begin(ONE_STEP);
    assert.equal((await runs.cancel(fixture.principal, runId, unkeyed)).status, 'cancelled');
    await fixture.deliver(runId);
    assert.deepEqual((await fixture.view(runId)).steps, []);
  });

  describe('visibility', () => {
    const { workspace, owner } = fixture;
    const leader = personOf('leads-here', 'leader', workspace);
    const stranger = personOf('works-here', 'worker', workspace);

    it("shows all data to the owner and the owner's agents", async () => {
      const input = fixture.question();
      const { run } = await fixture.run(ONE_STEP, { input });
      for (const principal of [
        fixture.principal,
        personOf(owner, 'viewer', workspace),
        { ...agentOf('held', owner, 'viewer'), held_to: workspace },
      ]) {
        const view = await runs.view(principal, run.id);
        assert.deepEqual([view.visibility, view.run.title], ['all', input]);
        assert.ok(view.steps[0]?.output);
        assert.ok((await runs.list(principal, undefined, 100, undefined)).items.some(({ id }) => id === run.id));
      }
    });

    it('shows the progress to leaders of the workspace, without prompt and answers', async () => {
      const input = fixture.question();
      const text = `The answer to ${input}`;
      fixture.models.when({ text: input }, { does: 'answer', text });
      const selection = { agent: 'claude', workflow: 'direct', reasons: [`About ${input}`] };
      const { run } = await fixture.run(ONE_STEP, { input, selection });
      const whole = runShape.parse(runResponse(await runs.view(fixture.principal, run.id), false, true));
      assert.deepEqual([whole.result, whole.withheld], [text, undefined]);
      const view = await runs.view(leader, run.id);
      const course = runShape.parse(runResponse(view, false, true));
      assert.equal(JSON.stringify([view, course]).includes(input), false, JSON.stringify(view));
      assert.deepEqual([course.status, course.withheld, course.usage], ['succeeded', true, whole.usage]);
      const done = course.steps.map(({ name, status, agent }) => [name, status, agent]);
      assert.deepEqual(done, [['only', 'succeeded', 'claude']]);
      assert.equal(course.attempts.length, whole.attempts.length);
      assert.deepEqual((await runs.list(leader, undefined, 10, undefined)).items, []);
      await assert.rejects(runs.list(leader, undefined, 10, run.id), codeIs('NOT_FOUND'));
    });

    it('shows the failure reason to leaders, without the details', async () => {
      const input = fixture.question();
      fixture.models.when({ text: input, times: 2 }, { does: 'error', status: 401 });
      const { run } = await fixture.run(ONE_STEP, { input });
      const { failure } = (await runs.view(leader, run.id)).run;
      assert.deepEqual([failure?.reason, failure?.message], ['AUTHENTICATION', 'Only the run owner sees the reason.']);
      assert.notEqual(run.failure?.message, failure?.message);
    });

    it('hides the run from other callers, who get the same errors as for an unknown run', async () => {
      fixture.losing = true;
      const { runId } = await fixture.begin(ONE_STEP);
      const unknown = `run-${'a'.repeat(20)}`;
      const lines = async (id: string) => {
        const refusals = await Promise.all([
          refusal(() => runs.view(stranger, id)),
          refusal(() => runs.watch(stranger, id, AbortSignal.abort())),
          refusal(() => runs.cancel(stranger, id, unkeyed)),
          refusal(() => runs.list(stranger, undefined, 10, id)),
        ]);
        return JSON.stringify(refusals.map(({ code, message, details }) => [code, message, details]));
      };
      assert.equal(
        (await lines(runId)).replaceAll(runId, '{run}'),
        (await lines(unknown)).replaceAll(unknown, '{run}'),
      );
      assert.deepEqual((await runs.list(stranger, undefined, 10, undefined)).items, []);
      assert.equal((await fixture.view(runId)).run.status, 'pending');
      assert.equal((await runs.cancel(leader, runId, unkeyed)).status, 'cancelled');
    });
  });

  it('executes parallel steps concurrently, and fails if one of these steps fails', async () => {
    const input = fixture.question();
    fixture.models.when({ text: `LEFT ${input}` }, { does: 'answer', text: 'left', company: 1 + 1 });
    const workflow = {
      name: 'side-by-side',
      steps: [
        { name: 'left', agent: 'claude', parallel: true, prompt: 'LEFT {{input}}' },
        { name: 'right', agent: 'gemini', parallel: true, prompt: 'RIGHT LEFT {{input}}' },
      ],
    };
    const { run } = await fixture.run(workflow, { input });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));

    const refused = fixture.question();
    fixture.models.when({ text: `RIGHT LEFT ${refused}` }, { does: 'answer', end: 'refusal' });
    const failed = await fixture.run(workflow, { input: refused });
    assert.deepEqual([failed.run.status, failed.run.failure?.reason], ['failed', 'REFUSED']);
    assert.deepEqual(failed.steps.map(({ status }) => status).sort(), ['failed', 'succeeded']);
  });

  it('creates a task for a live agent, and continues with the result of the task', async () => {
    const input = fixture.question();
    const workflow = {
      name: 'by-hand',
      steps: [
        { name: 'work', agent: 'network', prompt: 'Work on {{input}}' },
        { name: 'sum', agent: 'claude', prompt: 'SUM {{steps.work.output}} {{input}}' },
      ],
    };
    const { runId } = await fixture.begin(workflow, { input });
    await fixture.until(runId, ({ status }) => status === 'waiting');
    const taskId = `${runId}-work-1`;
    assert.equal((await fixture.view(runId)).steps[0]?.task_id, taskId);

    const agentId = `worker-${fixture.workspace}`;
    const worker = agentOf(agentId, fixture.owner, 'worker');
    const joining = { agentId, role: 'worker' as const, workspace: fixture.workspace };
    await services.membership.join(worker, { ...joining, capabilities: undefined }, unkeyed);
    const claim = { workspace: fixture.workspace, agentId, leaseSeconds: 1800, by: worker };
    await services.taskClaims.claim(claim, unkeyed);
    const done = { kind: 'done' as const, result: { output: 'the work of a hand' } };
    await services.taskQueue.reportOutcome(worker, taskId, { claimant: { agent_id: agentId }, outcome: done }, unkeyed);
    await runs.taskChanged(taskId);
    await runs.taskChanged(taskId);

    const { run, steps } = await fixture.ended(runId);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.deepEqual(steps[0]?.agents, [agentId]);
    const [sum] = fixture.models.askedAbout(`${input}`);
    assert.ok(sum?.prompt.includes('the work of a hand'));
    const kept = await coordination.ports.tasks.find(taskId);
    assert.equal(kept?.value.status, 'done');
  });

  describe("the end of a run during a live agent's step", () => {
    const BY_HAND = { name: 'by-hand', steps: [{ name: 'work', agent: 'network' }] };

    /** Starts a run in a separate workspace, and returns it with the task for which it waits. */
    async function waitingRun(workflow: object = BY_HAND, changed: Partial<RunRequest> = {}) {
      const team = new Team();
      const request = fixture.request(workflow, changed);
      const { runId } = await runs.start(fixture.principal, team.workspace, request, unkeyed);
      await fixture.until(runId, ({ status }) => status === 'waiting');
      return { team, runId, taskId: `${runId}-work-1` };
    }

    it('cancels an available task', async () => {
      const { team, runId, taskId } = await waitingRun();
      assert.equal((await runs.cancel(fixture.principal, runId, unkeyed)).status, 'cancelled');
      assert.equal((await runs.cancel(fixture.principal, runId, unkeyed)).status, 'cancelled');
      const { status, error } = await team.task(taskId);
      assert.deepEqual([status, error], ['cancelled', `Its run ${runId} was cancelled.`]);
      assert.deepEqual(await team.counts(), { cancelled: 1 });
      assert.equal(await team.claim(await team.join('late')), undefined);
    });

    it('lets responses show the step as cancelled, although it is stored as waiting', async () => {
      const { runId } = await waitingRun();
      assert.equal((await fixture.view(runId)).steps[0]?.status, 'waiting');
      await runs.cancel(fixture.principal, runId, unkeyed);
      const [stored] = await orchestration.ports.runs.steps(runId);
      assert.equal(stored?.status, 'waiting', 'the stored step is unchanged');
      const { run, steps } = await fixture.view(runId);
      const [step] = steps;
      const ended = [step?.status, step?.settled_at, step?.failure?.reason];
      assert.deepEqual(ended, ['cancelled', run.ended_at, 'RUN_ENDED']);
      const answer = runShape.parse(runResponse(await fixture.view(runId)));
      assert.match(answer.steps[0]?.error ?? '', /was cancelled/);
    });

    it('cancels a held task, whose holder gets an error and can claim another task', async () => {
      const { team, runId, taskId } = await waitingRun();
      const agentId = await team.join('holder');
      assert.equal(await team.claim(agentId), taskId);
      await runs.cancel(fixture.principal, runId, unkeyed);
      await assert.rejects(team.start(agentId, taskId), codeIs('CONFLICT'));
      await assert.rejects(team.complete(agentId, taskId), codeIs('CONFLICT'));
      await assert.rejects(team.fail(agentId, taskId), codeIs('CONFLICT'));
      assert.equal((await team.task(taskId)).status, 'cancelled');
      const agent = (await access.ports.agents.find(agentId))?.value;
      assert.deepEqual([agent?.held, agent?.tasks_completed, agent?.tasks_failed], [{}, 0, 0]);
      const other = await team.createOne();
      assert.equal(await team.claim(agentId), other.id);
      assert.deepEqual(await team.counts(), { cancelled: 1, claimed: 1 });
    });

    it('keeps a task that was completed before the run ended', async () => {
      const { team, runId, taskId } = await waitingRun();
      const agentId = await team.join('quick');
      await team.claim(agentId);
      await team.complete(agentId, taskId);
      await runs.cancel(fixture.principal, runId, unkeyed);
      assert.equal((await team.task(taskId)).status, 'done');
      assert.deepEqual(await team.counts(), { done: 1 });
    });

    it('cancels the task if the run reaches its deadline', async () => {
      const { team, runId, taskId } = await waitingRun();
      const { deadline } = (await fixture.view(runId)).run;
      await fixture.deliver(
        runId,
        fixture.anotherInstance(() => deadline),
      );
      assert.equal((await fixture.view(runId)).run.failure?.reason, 'DEADLINE');
      const { status, error } = await team.task(taskId);
      assert.deepEqual([status, error], ['cancelled', `Its run ${runId} has failed.`]);
    });

    it('cancels the task if a parallel step fails', async () => {
      const team = new Team();
      const input = fixture.question();
      fixture.models.when({ text: input }, { does: 'answer', end: 'refusal' });
      const steps = [
        { name: 'work', agent: 'network', parallel: true },
        { name: 'other', agent: 'claude', parallel: true },
      ];
      const request = fixture.request({ name: 'beside', steps }, { input });
      const { runId } = await runs.start(fixture.principal, team.workspace, request, unkeyed);
      const { run } = await fixture.ended(runId);
      assert.deepEqual([run.status, run.failure?.reason], ['failed', 'REFUSED']);
      assert.equal((await team.task(`${runId}-work-1`)).status, 'cancelled');
      assert.deepEqual(await team.counts(), { cancelled: 1 });
    });

    it('cancels a task that is created after the end of the run', async () => {
      fixture.losing = true;
      const team = new Team();
      const request = fixture.request(BY_HAND);
      const { runId } = await runs.start(fixture.principal, team.workspace, request, unkeyed);
      await runs.cancel(fixture.principal, runId, unkeyed);
      const taskId = `${runId}-work-1`;
      await team.createOne({ id: taskId });
      await runs.taskChanged(taskId);
      await runs.taskChanged(taskId);
      assert.equal((await team.task(taskId)).status, 'cancelled');
      assert.deepEqual(await team.counts(), { cancelled: 1 });
    });
  });

  it('fails if one of its calls has an unknown outcome and must not be repeated', async () => {
    const input = fixture.question();
    fixture.losing = true;
    const workflow = { name: 'once', steps: [{ name: 'only', agent: 'claude', repeatable: false }] };
    const { runId } = await fixture.begin(workflow, { input });
    const entry = {
      id: 'a-call-of-the-dead',
      step: 'only.1',
      call: 'answer',
      number: 1,
      repetition: 0,
      agent: 'claude',
      model: 'claude-local',
      input_hash: '',
      input_tokens: 10,
      max_output_tokens: 10,
      waited: 0,
      started_at: new Date(),
    };
    const found = await orchestration.ports.runs.find(runId);
    assert.ok(found);
    const run = { ...found.value, epoch: 1 };
    await kernel.store.commit([
      { kind: 'startCall', runId, entry },
      { kind: 'replaceRun', before: found.value, run, version: found.version },
    ]);
    await fixture.deliver(runId);
    const { run: ended } = await fixture.view(runId);
    assert.deepEqual([ended.status, ended.failure?.reason], ['failed', 'OUTCOME_UNKNOWN']);
    assert.equal(fixture.models.askedAbout(input).length, 0);
  });
});

function codeIs(code: string): (error: unknown) => boolean {
  return (error) => error instanceof MusterError && error.code === code;
}
