/** Takes back what was done to saved workflows. Source: docs/semantics.md#taking-back. */
import type { Change, Versioned } from '../../../../kernel/commit.ts';
import { readFor, Service } from '../../../../kernel/ports.ts';
import { asBefore, type Effect } from '../../../../kernel/trail.ts';
import type { OrchestrationPorts } from '../ports.ts';
import type { SavedWorkflow } from './savedWorkflow.ts';

export class WorkflowInverse extends Service<OrchestrationPorts> {
  /** @throws MusterError CONFLICT, with the reason CHANGED_SINCE */
  readonly workflow = async (effect: Effect): Promise<readonly Change[]> => {
    const { workflows, workflowFields, clock } = this.ports;
    const found = await readFor(effect.ownerUid ?? '', workflows.find(effect.id));
    const fields = asBefore(effect, found && workflowFields.of(found.value));
    if (fields === undefined) return found ? [deletion(found)] : [];
    const before = workflowFields.from(fields);
    if (found === undefined) return [{ kind: 'createWorkflow', saved: before }];
    const { value, version } = found;
    // Its version counts changes, and this is one.
    const saved = { ...before, version: value.version + 1, updatedAt: clock.now() };
    return [{ kind: 'replaceWorkflow', saved, before: value, version }];
  };
}

function deletion({ value: saved, version }: Versioned<SavedWorkflow>): Change {
  return { kind: 'deleteWorkflow', saved, version };
}
