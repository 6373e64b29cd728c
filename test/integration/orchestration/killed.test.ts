import assert from 'node:assert/strict';
import { isLeased } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { IS_NIGHT } from '../../support/night.ts';
import { abandon, BOUNDARIES, type Boundary, execute } from './doom.ts';
import { FIVE_STEPS, Orchestra } from './orchestra.ts';

/** Longer than a lease, so that a crashed instance has lost its run. */
const LATER_MILLISECONDS = 60_000;

const STEPS = FIVE_STEPS.steps.map(({ name }) => name);

/** Crash points after which the outcome of the call is unknown. */
const IN_DOUBT: readonly Boundary[] = ['before the request', 'before the answer is recorded'];

describe('a run whose instance is killed', function () {
  this.timeout('5m');
  const orchestra = new Orchestra();
  const later = orchestra.anotherInstance(() => new Date(Date.now() + LATER_MILLISECONDS));
  before(() => orchestra.start());
  after(() => orchestra.stop());
  afterEach(() => orchestra.assertAcceptable());

  for (const [place, at] of BOUNDARIES.entries()) {
    for (const step of STEPS) {
      // The default run tests one step per crash point, with one kill; elsewhere the database stops responding.
      if (!IS_NIGHT && step !== STEPS[place]) continue;
      const isKilled = step === STEPS[place] && (IS_NIGHT || at === 'before the answer is recorded');
      it(`succeeds if stopped ${at} of step ${step}${isKilled ? ', by SIGKILL' : ''}`, async () => {
        orchestra.losing = true;
        const input = orchestra.question();
        const { runId } = await orchestra.begin(FIVE_STEPS, { input });
        const doom = { runId, modelsUrl: orchestra.models.url, step: `${step}.1`, at };
        if (isKilled) assert.equal(await execute(doom), 'SIGKILL');
        else await abandon(doom, orchestra.anotherInstance());
        const { run: left } = await orchestra.view(runId);
        assert.ok(isLeased(left, new Date(0)), 'the instance held the run');
        await orchestra.deliver(runId, later);

        const { run, steps } = await orchestra.view(runId);
        assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
        assert.deepEqual(
          steps.map(({ name, status }) => [name, status]),
          STEPS.map((name) => [name, 'succeeded']),
        );
        for (const name of STEPS) await assertMade(runId, input, name, name === step ? at : undefined);
        const doubts = IN_DOUBT.includes(at) ? 1 : 0;
        assert.equal(run.warnings.filter((warning) => warning.includes('was made again')).length, doubts);
      });
    }
  }

  /** Asserts that the journal has one response per call, and the model one request unless the outcome was unknown. */
  async function assertMade(runId: string, input: string, step: string, at?: Boundary): Promise<void> {
    const entries = await orchestra.journal(runId, step);
    const answered = entries.filter(({ ending }) => ending?.attempt.end === 'answered');
    assert.equal(answered.length, 1, `${step} has one response in the journal`);
    const isInDoubt = at !== undefined && IN_DOUBT.includes(at);
    assert.equal(entries.length, isInDoubt ? 2 : 1, `${step}: recorded requests`);
    const asked = orchestra.models
      .askedAbout(input)
      .filter(({ prompt }) => prompt.startsWith(step.toUpperCase()));
    assert.equal(asked.length, at === 'before the answer is recorded' ? 2 : 1, `${step}: received requests`);
  }
});
