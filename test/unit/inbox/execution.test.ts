/** Outcome of an approved call that is refused when it finally runs. */
import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';

import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { ApprovalExecution } from '../../../functions/src/toolsets/inbox/rules/execution.ts';
import type { Request } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { START, sampleRequest, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

type ExecutionPorts = ConstructorParameters<typeof ApprovalExecution>[0];

/** Returns the request after its approved call has failed with this error. */
async function afterOutcome(error: MusterError): Promise<{ request: Request; thrown: unknown }> {
  const call = { tool: 'todo.add_task', arguments: { title: 'Milk' }, readonly: false };
  let request = sampleRequest({ kind: 'approval', due_at: START, answered_by: 'ada', call });
  const ports = portsOf<ExecutionPorts>({
    requests: { find: async () => versionOf(request) },
    clock: { now: () => START },
    randomness: systemRandomness,
    log: { warn: () => undefined },
    store: {
      commit: async (changes: readonly Change[]) => {
        for (const change of changes) if (change.kind === 'replaceRequest') request = change.request;
      },
    },
    runApprovedCall: async () => ({ error }),
  });
  const thrown = await new ApprovalExecution(ports).execute(request.id).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { request, thrown };
}

describe('approved call that is refused when it runs', () => {
  it('runs again under the same approval if it conflicted with other changes', async () => {
    const contention = new MusterError('CONFLICT', 'Too many changes at once.', { reason: 'CONTENTION' });
    const { request, thrown } = await afterOutcome(contention);
    assert.equal(thrown, contention);
    assert.ok(request.due_at !== undefined && request.outcome === undefined, 'the call is still due');
  });

  it('closes its request, unless the refusal was caused by a conflict with other changes', async () => {
    for (const reason of ['DUPLICATE_TASK', undefined]) {
      const { request, thrown } = await afterOutcome(new MusterError('CONFLICT', 'No.', reason ? { reason } : {}));
      assert.equal(thrown, undefined);
      assert.ok(request.due_at === undefined && request.outcome !== undefined);
    }
  });
});
