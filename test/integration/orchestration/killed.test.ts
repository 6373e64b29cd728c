import assert from 'node:assert/strict';
import { isLeased } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { abandon, BOUNDARIES, type Boundary, execute } from './crashPoint.ts';
import { FIVE_STEPS, OrchestrationFixture } from './fixture.ts';

/** Longer than the lease of a run, so that a crashed instance has lost its lease. */
const LATER_MS = 60_000;

const STEPS = FIVE_STEPS.steps.map(({ name }) => name);

/** The default run tests one step per crash point. One test kills the process. The others block the database. */
function stepsStoppedAt(at: Boundary, place: number): readonly string[] {
  if (!IS_NIGHTLY) return STEPS.slice(place, place + 1);
  // The commit that records the last step also ends the run.
  return at === 'after the step is recorded' ? STEPS.slice(0, -1) : STEPS;
}

type Doubt = readonly [step: string | undefined, requests: number];

/** Returns the step whose call has an unknown outcome, and its requests. One commit ends a step and starts the next. */
function doubtAfter(place: number, at: Boundary): Doubt {
  if (at === 'before the call is recorded') return [STEPS[place - 1], 2];
  if (at === 'after the step is recorded') return [STEPS[place + 1], 1];
  return [STEPS[place], at === 'before the request' ? 1 : 2];
}

describe('a run whose instance is killed', function () {
  this.timeout('5m');
  const fixture = new OrchestrationFixture();
  const later = fixture.anotherInstance(() => new Date(Date.now() + LATER_MS));
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  for (const [place, at] of BOUNDARIES.entries())
    for (const step of stepsStoppedAt(at, place)) {
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
        const rows = steps.map(({ name, status }) => [name, status]);
        const expected = STEPS.map((name) => [name, 'succeeded']);
        assert.deepEqual(rows, expected);
        const doubt = doubtAfter(STEPS.indexOf(step), at);
        for (const name of STEPS) await assertMade(runId, input, name, doubt);
        const doubts = Number(doubt[0] !== undefined);
        assert.equal(run.warnings.filter((warning) => warning.includes('was repeated')).length, doubts);
      });
    }

  /** Asserts that the journal has one response. There was one model request, unless a call's outcome was unknown. */
  async function assertMade(runId: string, input: string, step: string, doubt: Doubt): Promise<void> {
    const entries = await fixture.journal(runId, step);
    const answered = entries.filter(({ ending }) => ending?.attempt.end === 'answered');
    assert.equal(answered.length, 1, `${step} has one response in the journal`);
    const isInDoubt = step === doubt[0];
    assert.equal(entries.length, isInDoubt ? 2 : 1, `recorded requests of step ${step}`);
    const asked = fixture.models.askedAbout(input).filter(({ prompt }) => prompt.startsWith(step.toUpperCase()));
    assert.equal(asked.length, isInDoubt ? doubt[1] : 1, `received requests of step ${step}`);
  }
});
