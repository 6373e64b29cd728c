/** Putting tasks into the queue, with their dependencies. Source: docs/semantics.md#coordination. */

import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { MAX_TASK_BYTES, requireSize } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import type { CodingWork } from './codingTask.ts';
import { capabilityKey, MAX_CAPABILITY_KEYS } from './codingTask.ts';
import { type CoordinationPorts, openSession, type Session, type SessionOpening } from './session.ts';
import { isClosed, requireAhead, type Task, USUAL_TYPE } from './task.ts';

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
    resolved.map((task) => task.flatMap((dependency) => ('sibling' in dependency ? dependency.sibling : []))),
  );
  if (cycle) {
    const path = cycle.map((index) => `task-${index + 1}`).join(' -> ');
    throw new MusterError('VALIDATION_ERROR', `The dependencies form a cycle: ${path}.`, {
      field: `tasks.${cycle[0]}.dependencies`,
      reason: 'DEPENDENCY_CYCLE',
      suggestion: 'Remove one of these dependencies.',
    });
  }
  return resolved;
}

function resolve(dependency: string, index: number, size: number): Dependency {
  const reference = BATCH_REFERENCE.exec(dependency);
  if (reference === null) return { existing: dependency };
  return { sibling: siblingIndex(dependency, Number(reference[1]), index, size) };
}

function siblingIndex(dependency: string, position: number, index: number, size: number): number {
  if (position >= 1 && position <= size) return position - 1;
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
  const visit = (node: number): number[] | undefined => {
    if (finished.has(node)) return undefined;
    const met = path.indexOf(node);
    if (met >= 0) return [...path.slice(met), node];
    path.push(node);
    for (const target of edges[node] ?? []) {
      const cycle = visit(target);
      if (cycle) return cycle;
    }
    path.pop();
    finished.add(node);
    return undefined;
  };
  for (const start of edges.keys()) {
    const cycle = visit(start);
    if (cycle) return cycle;
  }
  return undefined;
}

// Putting tasks into the queue. Source: spec/coordination.md, create_task and create_tasks_batch.

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
  readonly drafts: readonly TaskDraft[];
  /** Whether "task-N" means the N-th draft. */
  readonly isBatch: boolean;
  /** The goal of the session where none is open yet. */
  readonly goal?: string;
  /** How errors name the place of a draft's argument. */
  readonly field: (index: number, argument: string) => string;
}

/** A draft with the id that it will have and the ids that it depends on. */
interface NumberedDraft {
  readonly id: string;
  readonly draft: TaskDraft;
  /** All that it depends on, in the caller's order. */
  readonly dependencies: readonly string[];
  /** Those among them that exist already. */
  readonly existing: readonly string[];
}

export class TaskCreation extends Service<CoordinationPorts> {
  /**
   * Creates all the tasks or none, in the workspace's open session.
   * @throws MusterError VALIDATION_ERROR for an unknown dependency or a cycle
   */
  create(request: CreationRequest, recordAnswer: RecordAnswer<readonly Task[]>): Promise<readonly Task[]> {
    const numbered = this.number(request);
    return retryStale(this.ports.randomness, async () => {
      const now = this.ports.clock.now();
      const opening = await openSession(this.ports, request.workspace, now, request.goal);
      const existing = await this.existing(numbered, opening.session, request);
      const tasks = buildTasks(numbered, existing, opening.session, request.createdBy, now);
      await this.ports.store.commit(creationChanges(tasks, existing, opening, now), recordAnswer(tasks));
      return tasks;
    });
  }

  /** Gives the drafts ids that sort in their order. */
  private number(request: CreationRequest): NumberedDraft[] {
    const { drafts } = request;
    const now = this.ports.clock.now();
    for (const [index, draft] of drafts.entries()) {
      requireSize('A task', request.field(index, 'description'), draft, MAX_TASK_BYTES);
      requireAhead(draft.deadline, request.field(index, 'deadline'), now);
    }
    const time = now.getTime().toString(36).padStart(9, '0');
    const prefix = `task-${time}${this.ports.randomness.letters(6)}`;
    const ids = drafts.map((_, index) => `${prefix}-${String(index + 1).padStart(3, '0')}`);
    const written = drafts.map((draft) => draft.dependencies);
    const resolved = request.isBatch
      ? resolveBatch(written)
      : written.map((names) => [...new Set(names)].map((existing): Dependency => ({ existing })));
    return drafts.map((draft, index) => {
      const dependencies = resolved[index] ?? [];
      return {
        id: draft.id ?? ids[index] ?? prefix,
        draft,
        dependencies: dependencies.flatMap((one) =>
          'existing' in one ? one.existing : (ids[one.sibling] ?? []),
        ),
        existing: dependencies.flatMap((one) => ('existing' in one ? one.existing : [])),
      };
    });
  }

  /** Reads the tasks of this session that the drafts depend on. */
  private async existing(
    numbered: readonly NumberedDraft[],
    session: Session,
    request: CreationRequest,
  ): Promise<ReadonlyMap<string, Versioned<Task>>> {
    const ids = [...new Set(numbered.flatMap((draft) => draft.existing))];
    const { tasks } = this.ports;
    const found = await tasks.findAll(ids);
    const existing = new Map<string, Versioned<Task>>();
    for (const [place, id] of ids.entries()) {
      const task = found[place] ?? (await tasks.find(id)); // which says so where it cannot be read
      const index = numbered.findIndex((draft) => draft.existing.includes(id));
      if (task?.value.session !== session.id)
        throw unknownDependency(id, request.field(index, 'dependencies'));
      const dependents = numbered.filter((draft) => draft.existing.includes(id)).length;
      if (task.value.dependents.length + dependents > MAX_DEPENDENTS)
        throw tooManyDependents(id, request.field(index, 'dependencies'));
      existing.set(id, task);
    }
    return existing;
  }
}

function buildTasks(
  numbered: readonly NumberedDraft[],
  existing: ReadonlyMap<string, Versioned<Task>>,
  session: Session,
  createdBy: string,
  now: Date,
): Task[] {
  const dependents = new Map<string, string[]>();
  for (const { id, dependencies } of numbered) {
    for (const dependency of dependencies)
      dependents.set(dependency, [...(dependents.get(dependency) ?? []), id]);
  }
  return numbered.map(({ id, draft, dependencies, existing: ids }) => {
    const before = ids.flatMap((dependency) => existing.get(dependency)?.value ?? []);
    const failed = before.filter((task) => task.status === 'failed' || task.status === 'cancelled');
    const open = before.filter((task) => task.status !== 'done');
    return {
      id,
      workspace: session.workspace,
      session: session.id,
      ...(draft.type !== undefined && draft.type !== USUAL_TYPE && { type: draft.type }),
      description: draft.description,
      priority: draft.priority,
      status: 'available' as const,
      dependencies,
      dependents: dependents.get(id) ?? [],
      blockers: dependencies.length - ids.length + open.length,
      failedDependencies: failed.map((task) => task.id),
      requiredCapabilities: draft.requiredCapabilities,
      context: { files: draft.files, ...(draft.hints !== undefined && { hints: draft.hints }) },
      createdAt: now,
      createdBy,
      ...(draft.deadline && { deadline: draft.deadline }),
      epoch: 0,
      lapsedClaims: [],
      retries: 0,
      ...(draft.coding && { coding: draft.coding(id, now) }),
    };
  });
}

function creationChanges(
  tasks: readonly Task[],
  existing: ReadonlyMap<string, Versioned<Task>>,
  { session, isNew }: SessionOpening,
  now: Date,
): Change[] {
  const keys = [...new Set(tasks.map((task) => capabilityKey(task.requiredCapabilities)))];
  const fresh = keys.filter((key) => key !== '' && !session.capabilityKeys.includes(key));
  if (session.capabilityKeys.length + fresh.length > MAX_CAPABILITY_KEYS) throw tooManyCapabilityKeys();
  const { workspace, id } = session;
  const opened: Change = isNew
    ? { kind: 'openSession', session: { ...session, capabilityKeys: fresh } }
    : { kind: 'queueGrew', workspace, session: id, capabilityKeys: fresh };
  return [
    opened,
    ...tasks.map((task): Change => ({ kind: 'createTask', task })),
    ...[...existing.values()].flatMap(({ value, version }): Change[] => {
      if (isClosed(value.status)) return [];
      const dependents = tasks.filter((task) => task.dependencies.includes(value.id)).map((task) => task.id);
      return [{ kind: 'addDependents', taskId: value.id, dependents, version }];
    }),
    { kind: 'count', workspace, session: id, by: { available: tasks.length }, at: now },
  ];
}

function unknownDependency(id: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `Unknown dependency "${id}".`, {
    field,
    value: id,
    reason: 'UNKNOWN_DEPENDENCY',
    suggestion: 'Name tasks of this workspace by their ids, as get_all_tasks lists them.',
  });
}

function tooManyDependents(id: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `More than ${MAX_DEPENDENTS} tasks would depend on "${id}".`, {
    field,
    value: id,
    reason: 'TOO_MANY_DEPENDENTS',
    suggestion: 'Put a task in between that collects them.',
  });
}

function tooManyCapabilityKeys(): MusterError {
  return new MusterError(
    'VALIDATION_ERROR',
    `More than ${MAX_CAPABILITY_KEYS} different sets of required capabilities in one coordination.`,
    {
      field: 'required_capabilities',
      reason: 'TOO_MANY_CAPABILITY_SETS',
      suggestion: 'Use fewer, broader capabilities.',
    },
  );
}
