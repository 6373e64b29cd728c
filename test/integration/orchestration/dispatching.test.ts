import assert from 'node:assert/strict';
import { compose } from '../../../functions/src/composition/compose.ts';
import { outsideOf } from '../../support/outside.ts';
import { turnAt } from '../../unit/kernel/turn.ts';
import { Orchestra } from './orchestra.ts';

const ONE_STEP = { name: 'one', steps: [{ name: 'one', agent: 'claude', prompt: '{{input}}' }] };

describe('a run whose dispatch fails', () => {
  const orchestra = new Orchestra();

  before(() => orchestra.start());
  after(() => orchestra.stop());

  it('is stored as pending and dispatched by the sweep', async () => {
    const dispatch = { dispatch: () => Promise.reject(new Error('Cloud Tasks is unavailable.')) };
    const app = compose(outsideOf({ clock: { now: () => new Date() }, dispatch }));
    const { runId } = await orchestra.begin(ONE_STEP, {}, app);
    assert.equal((await orchestra.view(runId)).run.status, 'pending');
    const later = new Date(Date.now() + 120_000);
    await orchestra.anotherInstance(() => later).services.orchestration.runs.part.run(turnAt(later));
    assert.ok(orchestra.dispatched.includes(runId));
    assert.equal((await orchestra.ended(runId)).run.status, 'succeeded');
  });
});
