/** Workflows that a caller can run: the built-in ones, and those that the caller's owner has saved. */
import type { AuditEffect } from '../../../../kernel/auditLog.ts';
import type { RecordResponse, Versioned } from '../../../../kernel/commit.ts';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { restoredFields } from '../../../../kernel/effects.ts';
import { MusterError, notFound } from '../../../../kernel/errors.ts';
import { canonicalJson } from '../../../../kernel/json.ts';
import { lazy } from '../../../../kernel/memoCache.ts';
import type { ListPage } from '../../../../kernel/paging.ts';
import { readFor, Service } from '../../../../kernel/ports.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import definitions from './builtIn.json' with { type: 'json' };
import type { Workflow } from './definition.ts';
import { readWorkflow, type SavedWorkflow } from './validation.ts';

/**
 * Returns the built-in workflows in the order of lists. They are read when first needed, because most calls need none
 * and reading them would slow down a cold start. Source: docs/semantics.md#orchestration.
 */
export const builtIns = lazy(() => definitions.map((definition): Workflow => readWorkflow(definition, 'workflow')));

export function builtIn(name: string): Workflow | undefined {
  return builtIns().find((workflow) => workflow.name === name);
}

export interface SaveResult {
  readonly saved: SavedWorkflow;
  readonly change: 'created' | 'replaced' | 'unchanged';
}

export class WorkflowLibrary extends Service<OrchestrationPorts> {
  list(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<SavedWorkflow>> {
    return this.ports.workflows.list(ownerUid, limit, after);
  }

  /** @param workflow a name, a definition, or its JSON @throws MusterError NOT_FOUND; VALIDATION_ERROR if invalid */
  async resolve(ownerUid: string, workflow: unknown): Promise<Workflow> {
    if (typeof workflow !== 'string' || workflow.trimStart().startsWith('{'))
      return readWorkflow(workflow, 'workflow', this.hosted());
    return builtIn(workflow) ?? (await this.find(ownerUid, workflow, 'workflow')).value.definition;
  }

  /** @param expectedVersion 0 for a new workflow @throws MusterError VALIDATION_ERROR; CONFLICT if it is outdated */
  save(
    ownerUid: string,
    definition: unknown,
    expectedVersion: number | undefined,
    recordResponse: RecordResponse<SaveResult>,
  ): Promise<SaveResult> {
    const workflow = readWorkflow(definition, 'workflow', this.hosted());
    requireOwn(workflow.name, 'workflow.name');
    const { store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const id = this.idOf(ownerUid, workflow.name);
      const before = await this.ports.workflows.find(id);
      requireVersion(workflow.name, before?.value, expectedVersion);
      const now = clock.now();
      const commit = async (saving: SaveResult, changes: readonly OrchestrationChange[]): Promise<SaveResult> => {
        await store.commit(changes, recordResponse(saving));
        return saving;
      };
      if (before === undefined) {
        const saved = { id, owner_uid: ownerUid, definition: workflow, version: 1, created_at: now, updated_at: now };
        return commit({ saved, change: 'created' }, [{ kind: 'createWorkflow', saved }]);
      }
      const { value, version } = before;
      if (canonicalJson(value.definition) === canonicalJson(workflow))
        return commit({ saved: value, change: 'unchanged' }, []);
      const saved = { ...value, definition: workflow, version: value.version + 1, updated_at: now };
      return commit({ saved, change: 'replaced' }, [{ kind: 'replaceWorkflow', saved, before: value, version }]);
    });
  }

  /** @throws MusterError NOT_FOUND; CONFLICT if the workflow has another version */
  delete(
    ownerUid: string,
    name: string,
    expectedVersion: number | undefined,
    recordResponse: RecordResponse<SavedWorkflow>,
  ): Promise<SavedWorkflow> {
    requireOwn(name, 'name');
    const { store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const { value, version } = await this.find(ownerUid, name, 'name');
      requireVersion(name, value, expectedVersion);
      await store.commit([{ kind: 'deleteWorkflow', saved: value, version }], recordResponse(value));
      return value;
    });
  }

  private async find(ownerUid: string, name: string, field: string): Promise<Versioned<SavedWorkflow>> {
    const found = await this.ports.workflows.find(this.idOf(ownerUid, name));
    if (found !== undefined) return found;
    throw notFound('Workflow', { [field]: name }, 'orchestration.list_workflows lists available workflows.');
  }

  private hosted(): readonly string[] {
    return this.ports.hosted().map(({ name }) => name);
  }

  private idOf(ownerUid: string, name: string): string {
    return this.ports.hashing.sha256(canonicalJson([ownerUid, name])).slice(0, 40);
  }
}

function requireVersion(name: string, found: SavedWorkflow | undefined, expected: number | undefined): void {
  const version = found?.version ?? 0;
  if (expected === undefined || expected === version) return;
  const is = version === 0 ? 'does not exist' : `is at version ${version}`;
  throw new MusterError('CONFLICT', `The workflow "${name}" ${is}, but version ${expected} was expected.`, {
    field: 'expectedVersion',
    value: expected,
    reason: 'VERSION_MISMATCH',
    suggestion: 'Retry with the version that orchestration.list_workflows returns with filter custom and detailed.',
  });
}

function requireOwn(name: string, field: string): void {
  if (builtIn(name) === undefined) return;
  throw new MusterError('FORBIDDEN', `Built-in workflow "${name}" cannot be replaced or deleted.`, {
    field,
    value: name,
    reason: 'BUILT_IN',
    suggestion: 'Save your workflow under another name.',
  });
}

// Undoes changes to saved workflows. Source: docs/semantics.md#undo.

export class WorkflowUndo extends Service<OrchestrationPorts> {
  /** @throws MusterError CONFLICT with the reason CHANGED_SINCE if the workflow was changed after the audit entry */
  readonly workflow = async (effect: AuditEffect): Promise<readonly OrchestrationChange[]> => {
    const { workflows, workflowFields, clock } = this.ports;
    const found = await readFor(effect.owner_uid ?? '', workflows.find(effect.id));
    const fields = restoredFields(effect, found && workflowFields.of(found.value));
    if (fields === undefined)
      return found ? [{ kind: 'deleteWorkflow', saved: found.value, version: found.version }] : [];
    const before = workflowFields.from(fields);
    if (found === undefined) return [{ kind: 'createWorkflow', saved: before }];
    const { value, version } = found;
    // Undoing is a change too, so the version increases.
    const saved = { ...before, version: value.version + 1, updated_at: clock.now() };
    return [{ kind: 'replaceWorkflow', saved, before: value, version }];
  };
}
