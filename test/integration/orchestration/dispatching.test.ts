import assert from 'node:assert/strict';
import { compose } from '../../../functions/src/composition/compose.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { OrchestrationFixture } from './fixture.ts';

const ONE_STEP = { name: 'one', steps: [{ name: 'one', agent: 'claude', prompt: '{{input}}' }] };

describe('a run whose dispatch fails', () => {
  const fixture = new OrchestrationFixture();

  before(() => fixture.start());
  after(() => fixture.stop());

  it('is stored as pending and dispatched by the sweep', async () => {
    const dispatch = { dispatch: () => Promise.reject(new Error('Cloud Tasks is unavailable.')) };
    const app = compose(externalServicesOf({ clock: { now: () => new Date() }, dispatch }));
    const { runId } = await fixture.begin(ONE_STEP, {}, app);
    assert.equal((await fixture.view(runId)).run.status, 'pending');
    const later = new Date(Date.now() + 120_000);
    await fixture.anotherInstance(() => later).services.orchestration.runs.sweepJob.run(sweepContextAt(later));
    assert.ok(fixture.dispatched.includes(runId));
    assert.equal((await fixture.ended(runId)).run.status, 'succeeded');
  });
});
