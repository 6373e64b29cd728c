/** Putting tasks into the queue, with their dependencies. Source: docs/semantics.md#coordination. */

import type { Opener } from '../../../access/rules/workspaces.ts';
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { MAX_TASK_BYTES, requireSize } from '../../../kernel/json.ts';
import { readIn, Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import type { CodingWork } from './codingTask.ts';
import { type CoordinationPorts, type FilledSession, openSession, type Session } from './session.ts';
import { capabilityKey, isClosed, MAX_CAPABILITY_KEYS, requireAhead, type Task, USUAL_TYPE } from './task.ts';

const BATCH_REFERENCE = /^task-(\d+)$/;

/** A dependency on the task at a place of the same batch (from 0), or on one that exists already, by its id. */
type Dependency = { readonly sibling: number } | { readonly existing: string };

/**
 * Tells references into the batch from ids of existing tasks.
 * @param batch each task's dependencies as the caller wrote them
 * @throws MusterError VALIDATION_ERROR for a reference past the batch's end, or a cycle, with its path
 */
export function resolveBatch(batch: readonly (readonly string[])[]): Dependency[][] {
  const resolved = batch.map((dependencies, index) =>
    [...new Set(dependencies)].map((dependency) => resolve(dependency, index, batch.length)),
  );
  const cycle = findCycle(
    resolved.map((task) => task.flatMap((one) => ('sibling' in one ? one.sibling : []))),
  );
  if (cycle === undefined) return resolved;
  const path = cycle.map((index) => `task-${index + 1}`).join(' -> ');
  throw new MusterError('VALIDATION_ERROR', `The dependencies form a cycle: ${path}.`, {
    field: `tasks.${cycle[0]}.dependencies`,
    reason: 'DEPENDENCY_CYCLE',
    suggestion: 'Remove one of these dependencies.',
  });
}

function resolve(dependency: string, index: number, size: number): Dependency {
  const reference = BATCH_REFERENCE.exec(dependency);
  if (reference === null) return { existing: dependency };
  const place = Number(reference[1]);
  if (place >= 1 && place <= size) return { sibling: place - 1 };
  throw new MusterError('VALIDATION_ERROR', `Unknown dependency "${dependency}" of task-${index + 1}.`, {
    field: `tasks.${index}.dependencies`,
    reason: 'UNKNOWN_DEPENDENCY',
    suggestion: `In a batch, "task-N" means its N-th task, and this one has ${size}.`,
  });
}

/** A cycle as the places on it, the first repeated at the end; undefined where there is none. */
function findCycle(edges: readonly (readonly number[])[]): number[] | undefined {
  const finished = new Set<number>();
  const path: number[] = [];
  // A batch is at most MAX_BATCH tasks, so the recursion is no deeper than that.
  const firstOf = (nodes: Iterable<number>): number[] | undefined => {
    for (const node of nodes) {
      if (finished.has(node)) continue;
      const met = path.indexOf(node);
      if (met >= 0) return [...path.slice(met), node];
      path.push(node);
      const cycle = firstOf(edges[node] ?? []);
      if (cycle) return cycle;
      path.pop();
      finished.add(node);
    }
    return undefined;
  };
  return firstOf(edges.keys());
}

/** The most tasks that one call creates. */
export const MAX_BATCH = 500;

/** The most tasks that may depend on one task: closing it touches each. */
const MAX_DEPENDENTS = 1000;

/** What the caller says of a task. */
export interface TaskDraft {
  /** Where it is to have an id that its creator derives; otherwise it gets one. */
  readonly id?: string;
  readonly type?: string | undefined;
  readonly description: string;
  readonly priority: number;
  readonly dependencies: readonly string[];
  readonly files: readonly string[];
  readonly hints?: string | undefined;
  readonly requiredCapabilities: readonly string[];
  readonly deadline?: Date | undefined;
  /** Makes it a coding task, once its id is known. */
  readonly coding?: (taskId: string, now: Date) => CodingWork;
}

export interface CreationRequest {
  readonly workspace: string;
  readonly createdBy: string;
  /** As openingChanges has it. */
  readonly opener?: Opener;
  readonly drafts: readonly TaskDraft[];
  /** Whether "task-N" means the N-th draft, and errors name a draft's arguments by its place. */
  readonly isBatch?: boolean;
  /** The goal of the session where none is open yet. */
  readonly goal?: string;
}

function fieldOf({ isBatch }: CreationRequest, index: number, argument: string): string {
  return isBatch ? `tasks.${index}.${argument}` : argument;
}

/** A draft with the id that it will have. Its dependencies are ids, in the caller's order. */
interface NumberedDraft extends TaskDraft {
  readonly id: string;
  /** Those of its dependencies that exist already. */
  readonly existing: readonly string[];
}

type TasksById = ReadonlyMap<string, Versioned<Task>>;

/** For each task that new ones depend on: their ids. */
type Dependents = ReadonlyMap<string, readonly string[]>;

export class TaskCreation extends Service<CoordinationPorts> {
  /**
   * Creates all the tasks or none, in the workspace's open session.
   * @throws MusterError VALIDATION_ERROR for an unknown dependency or a cycle
   */
  create(request: CreationRequest, recordAnswer: RecordAnswer<readonly Task[]>): Promise<readonly Task[]> {
    const { workspace, createdBy, goal, opener } = request;
    const drafts = this.number(request);
    const dependents = dependentsOf(drafts);
    return retryStale(this.ports.randomness, async () => {
      const now = this.ports.clock.now();
      const opening = await openSession(this.ports, workspace, now, opener, goal);
      const existing = await this.existing(drafts, dependents, opening.session, request);
      const tasks = drafts.map((draft) =>
        newTask(draft, existing, dependents, opening.session, createdBy, now),
      );
      const changes = creationChanges(tasks, existing, dependents, opening, now);
      await this.ports.store.commit(changes, recordAnswer(tasks));
      return tasks;
    });
  }

  /** Gives the drafts ids that sort in their order. */
  private number(request: CreationRequest): NumberedDraft[] {
    const { drafts, isBatch } = request;
    const now = this.ports.clock.now();
    for (const [index, draft] of drafts.entries()) {
      requireSize('A task', fieldOf(request, index, 'description'), draft, MAX_TASK_BYTES);
      requireAhead(draft.deadline, fieldOf(request, index, 'deadline'), now);
    }
    const time = now.getTime().toString(36).padStart(9, '0');
    const prefix = `task-${time}${this.ports.randomness.letters(6)}`;
    const idAt = (index: number): string => `${prefix}-${String(index + 1).padStart(3, '0')}`;
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

  /**
   * Reads the tasks of this session that the drafts depend on.
   * @throws MusterError VALIDATION_ERROR for one that is not there, or that too many would depend on
   */
  private async existing(
    drafts: readonly NumberedDraft[],
    dependents: Dependents,
    session: Session,
    request: CreationRequest,
  ): Promise<TasksById> {
    const ids = [...new Set(drafts.flatMap((draft) => draft.existing))];
    const { tasks } = this.ports;
    const found = await tasks.findAll(ids);
    const existing = new Map<string, Versioned<Task>>();
    for (const [place, id] of ids.entries()) {
      // Which says so where it cannot be read.
      const read = () => readIn((one) => one === request.workspace, tasks.find(id));
      const task = found[place] ?? (await read());
      const index = drafts.findIndex((draft) => draft.existing.includes(id));
      const field = fieldOf(request, index, 'dependencies');
      if (task?.value.session !== session.id) {
        throw new MusterError('VALIDATION_ERROR', `Unknown dependency "${id}".`, {
          field,
          value: id,
          reason: 'UNKNOWN_DEPENDENCY',
          suggestion: 'Name tasks of this workspace by their ids, as get_all_tasks lists them.',
        });
      }
      if (task.value.dependents.length + (dependents.get(id)?.length ?? 0) > MAX_DEPENDENTS) {
        const what = `More than ${MAX_DEPENDENTS} tasks would depend on "${id}".`;
        throw new MusterError('VALIDATION_ERROR', what, {
          field,
          value: id,
          reason: 'TOO_MANY_DEPENDENTS',
          suggestion: 'Put a task in between that collects them.',
        });
      }
      existing.set(id, task);
    }
    return existing;
  }
}

function dependentsOf(drafts: readonly NumberedDraft[]): Dependents {
  const dependents = new Map<string, string[]>();
  for (const { id, dependencies } of drafts)
    for (const dependency of dependencies)
      dependents.set(dependency, [...(dependents.get(dependency) ?? []), id]);
  return dependents;
}

function newTask(
  { id, existing: existingIds, files, hints, type, deadline, coding, ...draft }: NumberedDraft,
  existing: TasksById,
  dependents: Dependents,
  session: Session,
  createdBy: string,
  now: Date,
): Task {
  const before = existingIds.flatMap((dependency) => existing.get(dependency)?.value ?? []);
  const failed = before.filter((task) => task.status === 'failed' || task.status === 'cancelled');
  const done = before.filter((task) => task.status === 'done');
  return {
    ...draft,
    id,
    workspace: session.workspace,
    session: session.id,
    ...(type !== undefined && type !== USUAL_TYPE && { type }),
    status: 'available',
    dependents: dependents.get(id) ?? [],
    blockers: draft.dependencies.length - done.length,
    failedDependencies: failed.map((task) => task.id),
    context: { files, ...(hints !== undefined && { hints }) },
    createdAt: now,
    createdBy,
    ...(deadline && { deadline }),
    epoch: 0,
    lapsedClaims: [],
    retries: 0,
    ...(coding && { coding: coding(id, now) }),
  };
}

function creationChanges(
  tasks: readonly Task[],
  existing: TasksById,
  dependents: Dependents,
  { session, opened }: FilledSession,
  now: Date,
): Change[] {
  const keys = [...new Set(tasks.map((task) => capabilityKey(task.requiredCapabilities)))];
  const fresh = keys.filter((key) => key !== '' && !session.capabilityKeys.includes(key));
  if (session.capabilityKeys.length + fresh.length > MAX_CAPABILITY_KEYS) {
    const what = `More than ${MAX_CAPABILITY_KEYS} different sets of required capabilities in one coordination.`;
    throw new MusterError('VALIDATION_ERROR', what, {
      field: 'required_capabilities',
      reason: 'TOO_MANY_CAPABILITY_SETS',
      suggestion: 'Use fewer, broader capabilities.',
    });
  }
  const { workspace, id } = session;
  const grown: Change[] = opened?.({ ...session, capabilityKeys: fresh }) ?? [
    { kind: 'queueGrew', workspace, session: id, capabilityKeys: fresh },
  ];
  const open = [...existing.values()].filter(({ value }) => !isClosed(value.status));
  return [
    ...grown,
    ...tasks.map((task): Change => ({ kind: 'createTask', task })),
    ...open.map(({ value: { id: taskId }, version }): Change => {
      return { kind: 'addDependents', taskId, dependents: dependents.get(taskId) ?? [], version };
    }),
    { kind: 'count', workspace, session: id, by: { available: tasks.length }, at: now },
  ];
}
