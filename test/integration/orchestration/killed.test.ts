import assert from 'node:assert/strict';
import { isLeased } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { abandon, BOUNDARIES, type Boundary, execute } from './crashPoint.ts';
import { FIVE_STEPS, OrchestrationFixture } from './fixture.ts';

/** Longer than the lease of a run, so that a crashed instance has lost its lease. */
const LATER_MS = 60_000;

const STEPS = FIVE_STEPS.steps.map(({ name }) => name);

/** Crash points after which the outcome of a model call is unknown. */
const IN_DOUBT: readonly Boundary[] = ['before the request', 'before the answer is recorded'];

describe('a run whose instance is killed', function () {
  this.timeout('5m');
  const fixture = new OrchestrationFixture();
  const later = fixture.anotherInstance(() => new Date(Date.now() + LATER_MS));
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  for (const [place, at] of BOUNDARIES.entries()) {
    for (const step of STEPS) {
      // The default run tests one step per crash point. One test kills the process. The others block the database.
      if (!IS_NIGHTLY && step !== STEPS[place]) continue;
      const isKilled = step === STEPS[place] && (IS_NIGHTLY || at === 'before the answer is recorded');
      it(`succeeds if stopped in step ${step} ${at}${isKilled ? ', by SIGKILL' : ''}`, async () => {
        fixture.losing = true;
        const input = fixture.question();
        const { runId } = await fixture.begin(FIVE_STEPS, { input });
        const crashPoint = { runId, modelsUrl: fixture.models.url, step: `${step}.1`, at };
        if (isKilled) assert.equal(await execute(crashPoint), 'SIGKILL');
        else await abandon(crashPoint, fixture.anotherInstance());
        const { run: left } = await fixture.view(runId);
        assert.ok(isLeased(left, new Date(0)), 'the instance held the run');
        await fixture.deliver(runId, later);

        const { run, steps } = await fixture.view(runId);
        assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
        assert.deepEqual(
          steps.map(({ name, status }) => [name, status]),
          STEPS.map((name) => [name, 'succeeded']),
        );
        for (const name of STEPS) await assertMade(runId, input, name, name === step ? at : undefined);
        const doubts = IN_DOUBT.includes(at) ? 1 : 0;
        assert.equal(run.warnings.filter((warning) => warning.includes('was repeated')).length, doubts);
      });
    }
  }

  /** Asserts that the journal has one response. There was one model request, unless a call's outcome was unknown. */
  async function assertMade(runId: string, input: string, step: string, at?: Boundary): Promise<void> {
    const entries = await fixture.journal(runId, step);
    const answered = entries.filter(({ ending }) => ending?.attempt.end === 'answered');
    assert.equal(answered.length, 1, `${step} has one response in the journal`);
    const isInDoubt = at !== undefined && IN_DOUBT.includes(at);
    assert.equal(entries.length, isInDoubt ? 2 : 1, `recorded requests of step ${step}`);
    const asked = fixture.models.askedAbout(input).filter(({ prompt }) => prompt.startsWith(step.toUpperCase()));
    assert.equal(asked.length, at === 'before the answer is recorded' ? 2 : 1, `received requests of step ${step}`);
  }
});
