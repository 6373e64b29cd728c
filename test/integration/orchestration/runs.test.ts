/** Runs from their start to their end. */
import assert from 'node:assert/strict';
import { FIVE_STEPS, Orchestra } from './orchestra.ts';

describe('a run', () => {
  const orchestra = new Orchestra();
  before(() => orchestra.start());
  after(() => orchestra.stop());
  afterEach(() => orchestra.assertAcceptable());

  it('executes its steps in order, and keeps what each of them did', async () => {
    const { run, steps } = await orchestra.run(FIVE_STEPS);
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    assert.deepEqual(
      steps.map(({ name, status, agents }) => [name, status, agents]),
      [
        ['one', 'succeeded', ['claude']],
        ['two', 'succeeded', ['gemini']],
        ['three', 'succeeded', ['claude']],
        ['four', 'succeeded', ['gemini']],
        ['five', 'succeeded', ['claude']],
      ],
    );
    assert.equal(run.resultStep, 'five.1');
  });
});
