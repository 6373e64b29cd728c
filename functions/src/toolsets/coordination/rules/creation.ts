/** Creation of tasks with their dependencies. Source: docs/semantics.md#coordination. */
import {
  acceptanceOf,
  demandsNothing,
  type ProofSettings,
  type Requirements,
} from '../../../access/rules/proofSettings.ts';
import type { WorkspaceCreator } from '../../../access/rules/workspaces.ts';
import type { NodeRef } from '../../../graph/rules/graphNode.ts';
import { type Links, linkAllToParents, type ParentLink } from '../../../graph/rules/linking.ts';
import { hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import type { AnyChange, RecordResponse, Store } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MAX_TASK_BYTES, requireSize } from '../../../kernel/json.ts';
import { type Randomness, Service } from '../../../kernel/ports.ts';
import type { CodingWork } from './codingTask.ts';
import {
  type Dependency,
  type Dependents,
  dependencyStateOf,
  readDependencies,
  resolveBatch,
  type TasksById,
} from './dependencies.ts';
import { firstKeys, type OpenedSession, openSession, queueGrowthIn } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { NEW_TASK } from './proof/proving.ts';
import { cannotWaive, withPerson } from './proof/requirements.ts';
import type { Session } from './session.ts';
import { CODING_TYPE, DEFAULT_TYPE, isOfRun, requireFutureDeadline, type Task } from './task.ts';
import { countedBy } from './taskChanges.ts';

export const MAX_BATCH = 500;

export interface TaskDraft {
  /** Id chosen by the feature that creates the task. Default: a new id. */
  readonly id?: string;
  readonly type?: string | undefined;
  readonly description: string;
  readonly priority: number;
  readonly dependencies: readonly string[];
  readonly files: readonly string[];
  readonly hints?: string | undefined;
  readonly required_capabilities: readonly string[];
  readonly deadline?: Date | undefined;
  readonly part_of?: NodeRef | undefined;
  readonly traceparent?: string;
  /** Requirements for the result; by default, those of the workspace. */
  readonly acceptance?: Requirements | undefined;
  /** Set for coding tasks. Returns the coding fields for a task with the given id. */
  readonly coding?: (taskId: string, now: Date) => CodingWork;
}

export interface CreationRequest<Change = CoordinationChange> {
  readonly workspace: string;
  readonly createdBy: string;
  /** See `createWorkspaceChanges`. */
  readonly opener?: WorkspaceCreator;
  /** Caller that must be allowed to see the parents of the drafts. Omitted if Muster itself chose the parents. */
  readonly viewer?: Principal;
  readonly drafts: readonly TaskDraft[];
  /** Used instead of `part_of` to link the tasks to their parents. Called again each time the commit is retried. */
  readonly link?: (ids: readonly string[]) => Promise<ParentLink<CoordinationChange | Change>>;
  /** Whether "task-N" is a reference to the N-th draft, and error fields contain the index of a draft. */
  readonly isBatch?: boolean;
  /** Goal of the session, used only if this request opens the session. */
  readonly goal?: string;
}

function fieldOf({ isBatch }: Pick<CreationRequest, 'isBatch'>, index: number, argument: string): string {
  return isBatch ? `tasks.${index}.${argument}` : argument;
}

/** Draft with its id and the ids of its dependencies, in the caller's order. */
interface NumberedDraft extends TaskDraft {
  readonly id: string;
  /** Ids of the dependencies that exist already, and are not created by the same request. */
  readonly existing: readonly string[];
}

interface CreationPorts<Change extends AnyChange> extends CoordinationPorts {
  readonly store: Store<CoordinationChange | Change>;
}

/** Creates tasks. `Change`: type of the additional changes that the creating feature commits with the tasks. */
export class TaskCreation<Change extends AnyChange = CoordinationChange> extends Service<CreationPorts<Change>> {
  /** Creates all tasks or none. @throws MusterError VALIDATION_ERROR for an unknown dependency or a cycle */
  async create(
    request: CreationRequest<Change>,
    recordResponse: RecordResponse<readonly Task[]>,
  ): Promise<readonly Task[]> {
    const { workspace, createdBy, goal, opener, viewer } = request;
    const drafts = await this.withPeople(this.number(request), request);
    const mayWaive = viewer !== undefined && hasRoleIn(viewer, workspace, 'leader');
    const dependents = dependentsOf(drafts);
    return retryOnConflict(this.ports.randomness, async () => {
      const now = this.ports.clock.now();
      const opening = await openSession(this.ports, workspace, now, { opener, goal });
      const { session, proof } = opening;
      const ids = [...new Set(drafts.flatMap((draft) => draft.existing))];
      const fieldFor = (id: string) => {
        const index = drafts.findIndex((draft) => draft.existing.includes(id));
        return fieldOf(request, index, 'dependencies');
      };
      const existing = await readDependencies(this.ports.tasks, session, { ids, dependents, fieldFor });
      const settings = { proof, mayWaive };
      const creation = { existing, dependents, session, createdBy, ownerUid: opener?.owner_uid, now, settings };
      const { parentsOf, changes: linked } = await this.links(drafts, request);
      const tasks = drafts.map((draft) => ({ ...newTask(draft, creation), ...parentsOf(draft.part_of) }));
      const changes = await creationChanges(this.ports.sessions, tasks, creation, opening);
      await this.ports.store.commit([...changes, ...linked], recordResponse(tasks));
      return tasks;
    });
  }

  private withPeople(drafts: readonly NumberedDraft[], request: CreationRequest<Change>): Promise<NumberedDraft[]> {
    return Promise.all(
      drafts.map(async (draft, index) => {
        const field = fieldOf(request, index, 'acceptance');
        return { ...draft, acceptance: await withPerson(this.ports, request.workspace, draft.acceptance, field) };
      }),
    );
  }

  private async links(
    drafts: readonly NumberedDraft[],
    request: CreationRequest<Change>,
  ): Promise<Links<CoordinationChange | Change>> {
    const { workspace, viewer: principal, link } = request;
    const given = await link?.(drafts.map(({ id }) => id));
    if (given) return { parentsOf: () => given.parents, changes: given.changes };
    const field = (index: number) => fieldOf(request, index, 'part_of');
    const wanted = drafts.map(({ part_of }) => part_of);
    return linkAllToParents(this.ports, wanted, { principal, workspace }, field);
  }

  /** Returns the drafts with new ids. The ids sort in the order of the drafts. */
  private number(request: CreationRequest<Change>): NumberedDraft[] {
    const { drafts, isBatch } = request;
    const now = this.ports.clock.now();
    for (const [index, draft] of drafts.entries()) {
      requireSize('A task', fieldOf(request, index, 'description'), draft, MAX_TASK_BYTES);
      requireFutureDeadline(draft.deadline, fieldOf(request, index, 'deadline'), now);
    }
    const idAt = newTaskIds(this.ports.randomness, now);
    const resolved = isBatch ? resolveBatch(drafts.map(({ dependencies }) => dependencies)) : [];
    return drafts.map((draft, index) => {
      const named = [...new Set(draft.dependencies)].map((existing): Dependency => ({ existing }));
      const dependencies = resolved[index] ?? named;
      return {
        ...draft,
        id: draft.id ?? idAt(index),
        dependencies: dependencies.map((one) => ('existing' in one ? one.existing : idAt(one.sibling))),
        existing: dependencies.flatMap((one) => ('existing' in one ? one.existing : [])),
      };
    });
  }
}

/** Returns a function that returns new task ids. The ids sort by time, and then by index. */
export function newTaskIds(randomness: Randomness, now: Date): (index: number) => string {
  const time = now.getTime().toString(36).padStart(9, '0');
  const prefix = `task-${time}${randomness.letters(6)}`;
  return (index) => `${prefix}-${String(index + 1).padStart(3, '0')}`;
}

function dependentsOf(drafts: readonly NumberedDraft[]): Dependents {
  const dependents = new Map<string, string[]>();
  for (const { id, dependencies } of drafts)
    for (const dependency of dependencies) dependents.set(dependency, [...(dependents.get(dependency) ?? []), id]);
  return dependents;
}

interface Creation {
  readonly existing: TasksById;
  readonly dependents: Dependents;
  readonly session: Session;
  readonly createdBy: string;
  readonly ownerUid: string | undefined;
  readonly now: Date;
  readonly settings: { readonly proof: ProofSettings; readonly mayWaive: boolean };
}

function newTask(
  numbered: NumberedDraft,
  { existing, dependents, session, createdBy, ownerUid, now, settings: { proof, mayWaive } }: Creation,
): Task {
  const { id, existing: existingIds, files, hints, type, deadline, ...others } = numbered;
  const { coding, part_of: _, acceptance: wanted, ...draft } = others;
  const before = existingIds.flatMap((dependency) => existing.get(dependency)?.value ?? []);
  const { blockers, ...standing } = dependencyStateOf(before);
  const kind = coding ? CODING_TYPE : (type ?? DEFAULT_TYPE);
  const acceptance = isOfRun({ id }) ? undefined : acceptanceOf(proof, kind, wanted);
  if (wanted && demandsNothing(wanted) && !mayWaive && acceptanceOf(proof, kind, undefined))
    throw cannotWaive('of the workspace');
  return {
    ...draft,
    ...standing,
    id,
    workspace: session.workspace,
    session: session.id,
    ...(type !== undefined && type !== DEFAULT_TYPE && { given_type: type }),
    status: 'available',
    dependents: dependents.get(id) ?? [],
    // Dependencies that are created in the same batch also block the task.
    blockers: blockers + draft.dependencies.length - before.length,
    context: { files, ...(hints !== undefined && { hints }) },
    created_at: now,
    created_by: createdBy,
    ...(deadline && { deadline }),
    ...NEW_TASK,
    ...(acceptance && { acceptance }),
    file_wait: proof.file_wait_minutes,
    ...(ownerUid !== undefined && { owner_uid: ownerUid }),
    ...(coding && { coding: coding(id, now) }),
  };
}

async function creationChanges(
  sessions: CoordinationPorts['sessions'],
  tasks: readonly Task[],
  { existing, dependents, now }: Creation,
  { session, open, opened }: OpenedSession,
): Promise<CoordinationChange[]> {
  const { workspace, id } = session;
  const grown = open && (await queueGrowthIn(sessions, open, tasks));
  const sessionChanges = grown ? [grown] : (opened?.({ ...session, capability_keys: firstKeys(tasks) }) ?? []);
  // Dependencies that failed also get this task as a dependent, because they can be retried.
  const undone = [...existing.values()].filter(({ value }) => value.status !== 'done');
  return [
    ...sessionChanges,
    ...tasks.map((task): CoordinationChange => ({ kind: 'createTask', task })),
    ...undone.map(({ value: { id: taskId }, version }): CoordinationChange => {
      return { kind: 'addDependents', taskId, dependents: dependents.get(taskId) ?? [], version };
    }),
    { kind: 'count', workspace, session: id, by: countedBy([], tasks), at: now },
  ];
}
