/** The workflows that a caller can name: the built-in ones, and those of the caller's owner. */
import type { Change, RecordAnswer } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson } from '../../../../kernel/json.ts';
import type { Slice } from '../../../../kernel/paging.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import type { OrchestrationPorts } from '../ports.ts';
import definitions from './builtIn.json' with { type: 'json' };
import type { SavedWorkflow, Workflow } from './definition.ts';
import { readWorkflow } from './validation.ts';

let read: readonly Workflow[] | undefined;

/**
 * The built-in workflows, in the order in which they are listed. Source: docs/semantics.md#orchestration. Read on
 * first use: most calls need none, and a cold start waits for all.
 */
export function builtIns(): readonly Workflow[] {
  read ??= definitions.map((definition) => readWorkflow(definition, 'workflow'));
  return read;
}

export function builtIn(name: string): Workflow | undefined {
  return builtIns().find((workflow) => workflow.name === name);
}

/** What became of a workflow that was to be saved. */
export interface Saving {
  readonly saved: SavedWorkflow;
  readonly change: 'created' | 'replaced' | 'unchanged';
}

export class WorkflowLibrary {
  private readonly ports: OrchestrationPorts;

  constructor(ports: OrchestrationPorts) {
    this.ports = ports;
  }

  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>> {
    return this.ports.workflows.list(ownerUid, limit, after);
  }

  /**
   * @param workflow a name, a definition, or a definition's JSON
   * @throws MusterError NOT_FOUND, or VALIDATION_ERROR for a definition that is wrong
   */
  async resolve(ownerUid: string, workflow: unknown): Promise<Workflow> {
    if (typeof workflow !== 'string' || workflow.trimStart().startsWith('{')) {
      return readWorkflow(workflow, 'workflow');
    }
    const known = builtIn(workflow);
    if (known !== undefined) return known;
    const found = await this.ports.workflows.find(this.idOf(ownerUid, workflow));
    if (found === undefined) throw noWorkflow(workflow, 'workflow');
    return found.value.workflow;
  }

  /**
   * @param expectedVersion 0 for one that does not exist yet
   * @throws MusterError VALIDATION_ERROR; CONFLICT where the version is another
   */
  save(
    ownerUid: string,
    definition: unknown,
    expectedVersion: number | undefined,
    recordAnswer: RecordAnswer<Saving>,
  ): Promise<Saving> {
    const workflow = readWorkflow(definition, 'workflow');
    if (builtIn(workflow.name) !== undefined) throw isBuiltIn(workflow.name, 'workflow.name');
    const { store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const id = this.idOf(ownerUid, workflow.name);
      const before = await this.ports.workflows.find(id);
      requireVersion(workflow.name, before?.value, expectedVersion);
      const saving = savingOf(before?.value, { id, ownerUid, workflow }, clock.now());
      const { saved, change } = saving;
      const written: Change =
        before === undefined
          ? { kind: 'createWorkflow', saved }
          : { kind: 'replaceWorkflow', saved, version: before.version };
      await store.commit(change === 'unchanged' ? [] : [written], recordAnswer(saving));
      return saving;
    });
  }

  /** @throws MusterError NOT_FOUND; CONFLICT where the version is another */
  delete(
    ownerUid: string,
    name: string,
    expectedVersion: number | undefined,
    recordAnswer: RecordAnswer<SavedWorkflow>,
  ): Promise<SavedWorkflow> {
    if (builtIn(name) !== undefined) throw isBuiltIn(name, 'name');
    const { store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await this.ports.workflows.find(this.idOf(ownerUid, name));
      if (found === undefined) throw noWorkflow(name, 'name');
      const { value, version } = found;
      requireVersion(name, value, expectedVersion);
      await store.commit([{ kind: 'deleteWorkflow', id: value.id, version }], recordAnswer(value));
      return value;
    });
  }

  private idOf(ownerUid: string, name: string): string {
    return this.ports.hashing.sha256(canonicalJson([ownerUid, name])).slice(0, 40);
  }
}

function savingOf(
  before: SavedWorkflow | undefined,
  { id, ownerUid, workflow }: Pick<SavedWorkflow, 'id' | 'ownerUid' | 'workflow'>,
  now: Date,
): Saving {
  if (before === undefined) {
    const saved = { id, ownerUid, workflow, version: 1, createdAt: now, updatedAt: now };
    return { saved, change: 'created' };
  }
  if (canonicalJson(before.workflow) === canonicalJson(workflow))
    return { saved: before, change: 'unchanged' };
  return { saved: { ...before, workflow, version: before.version + 1, updatedAt: now }, change: 'replaced' };
}

function requireVersion(name: string, found: SavedWorkflow | undefined, expected: number | undefined): void {
  const version = found?.version ?? 0;
  if (expected === undefined || expected === version) return;
  const is = version === 0 ? 'does not exist' : `has the version ${version}`;
  throw new MusterError('CONFLICT', `The workflow "${name}" ${is}, not the version ${expected}.`, {
    field: 'expectedVersion',
    value: expected,
    reason: 'VERSION_MISMATCH',
    suggestion: 'Read it with list_workflows, filter custom and detailed, and decide again.',
  });
}

function isBuiltIn(name: string, field: string): MusterError {
  return new MusterError('FORBIDDEN', `"${name}" is a built-in workflow: it cannot be replaced or deleted.`, {
    field,
    value: name,
    reason: 'BUILT_IN',
    suggestion: 'Save a workflow of your own under another name.',
  });
}

function noWorkflow(name: string, field: string): MusterError {
  return new MusterError('NOT_FOUND', 'There is no workflow of this name.', {
    field,
    value: name,
    suggestion: 'list_workflows lists those that there are.',
  });
}
