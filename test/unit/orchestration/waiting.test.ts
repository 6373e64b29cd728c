/** How long a call waits for the run that it starts or reads. */
import assert from 'node:assert/strict';
import type { CallContext } from '../../../functions/src/mcp/callContext.ts';
import type { OrchestrationServices } from '../../../functions/src/toolsets/orchestration/create.ts';
import { awaitedRun, MAX_WAIT_MS } from '../../../functions/src/toolsets/orchestration/tools/runResponses.ts';
import { sampleRun } from '../../support/builders.ts';

/** Returns whether a call still waits after its run has changed. */
async function waitsAfter(change: Parameters<typeof sampleRun>[0]): Promise<boolean> {
  let waits = true;
  const runs = {
    view: async () => ({ run: sampleRun() }),
    follow: async (_id: string, end: AbortSignal, noted: (run: ReturnType<typeof sampleRun>) => void) => {
      noted(sampleRun(change));
      waits = !end.aborted;
    },
  };
  const context: Partial<CallContext<object>> = {
    services: { orchestration: { runs } },
    progress: () => undefined,
    onTimeout: () => undefined,
    disconnectSignal: () => new AbortController().signal,
    trackWait: (wait) => wait,
    timeLeft: () => 2 * MAX_WAIT_MS,
  };
  await awaitedRun(context as CallContext<OrchestrationServices>, 'run-1', MAX_WAIT_MS);
  return waits;
}

describe('a call that waits for a run', () => {
  const wait = { key: 'todo-1', since: new Date() };

  it('waits while the run works, and while running calls hold the budget', async () => {
    assert.equal(await waitsAfter({ status: 'running' }), true);
    assert.equal(await waitsAfter({ status: 'waiting', budget_wait: { ...wait, is_spent: false } }), true);
  });

  it('responds at once if a person must raise a budget', async () =>
    assert.equal(await waitsAfter({ status: 'waiting', budget_wait: { ...wait, is_spent: true } }), false));
});
