/** Dependencies of tasks: references within a batch, cycles and blockers. Source: docs/semantics.md#coordination. */
import type { Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readUnreadable } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from './ports.ts';
import type { Session } from './session.ts';
import type { Task } from './task.ts';

/** Maximum number of dependents of a task, because a commit that closes the task writes each dependent. */
const MAX_DEPENDENTS = 1000;

/** Maximum number of tasks that the check of new dependencies for a cycle reads. */
const MAX_VISITED = 1000;
const BATCH_REFERENCE = /^task-(\d+)$/;

/** Dependency on a task of the same batch, given by its index from 0, or on an existing task, given by its id. */
export type Dependency = { readonly sibling: number } | { readonly existing: string };

/**
 * Resolves the dependencies of a batch into tasks of the batch and ids of existing tasks.
 * @param batch the dependencies of each task, as sent by the caller
 * @throws MusterError VALIDATION_ERROR for a reference beyond the batch, or for a cycle, which the error names
 */
export function resolveBatch(batch: readonly (readonly string[])[]): Dependency[][] {
  const resolved = batch.map((dependencies, index) =>
    [...new Set(dependencies)].map((dependency) => resolve(dependency, index, batch.length)),
  );
  const cycle = findCycle(resolved.map((task) => task.flatMap((one) => ('sibling' in one ? one.sibling : []))));
  if (cycle === undefined) return resolved;
  const path = cycle.map((index) => `task-${index + 1}`);
  throw cycleError(path, `tasks.${cycle[0]}.dependencies`);
}

function resolve(dependency: string, index: number, size: number): Dependency {
  const reference = BATCH_REFERENCE.exec(dependency);
  if (reference === null) return { existing: dependency };
  const place = Number(reference[1]);
  if (place >= 1 && place <= size) return { sibling: place - 1 };
  throw new MusterError('VALIDATION_ERROR', `Unknown dependency "${dependency}" of task-${index + 1}.`, {
    field: `tasks.${index}.dependencies`,
    reason: 'UNKNOWN_DEPENDENCY',
    suggestion: `In a batch, "task-N" is the N-th task. Number of tasks in this batch: ${size}.`,
  });
}

/** Returns the indexes of a cycle, with the first index repeated at the end, or undefined if there is no cycle. */
function findCycle(edges: readonly (readonly number[])[]): number[] | undefined {
  const finished = new Set<number>();
  const path: number[] = [];
  // The recursion is at most MAX_BATCH calls deep.
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

export type TasksById = ReadonlyMap<string, Versioned<Task>>;

/** For each task, the ids of its new dependents. */
export type Dependents = ReadonlyMap<string, readonly string[]>;

interface WantedDependencies {
  readonly ids: readonly string[];
  readonly dependents: Dependents;
  readonly fieldFor: (id: string) => string;
}

/**
 * Reads the tasks of a session that other tasks will depend on.
 * @param wanted `dependents`: for each task, its new dependents; `fieldFor`: returns a dependency's argument
 * @throws MusterError VALIDATION_ERROR if a dependency does not exist or would have too many dependents
 */
export async function readDependencies(
  tasks: CoordinationPorts['tasks'],
  session: Pick<Session, 'id' | 'workspace'>,
  { ids, dependents, fieldFor }: WantedDependencies,
): Promise<TasksById> {
  const found = await tasks.findAll(ids);
  const existing = new Map<string, Versioned<Task>>();
  for (const [place, id] of ids.entries()) {
    // `findAll` also omits unreadable tasks, so the task is read again for its error.
    const read = () => readUnreadable((one) => one === session.workspace, tasks.find(id));
    const task = found[place] ?? (await read());
    const field = fieldFor(id);
    if (task?.value.session !== session.id)
      throw new MusterError('VALIDATION_ERROR', `Unknown dependency "${id}".`, {
        field,
        value: id,
        reason: 'UNKNOWN_DEPENDENCY',
        suggestion: 'Use ids of tasks in the open session, as listed by coordination.get_all_tasks.',
      });
    if (task.value.dependents.length + (dependents.get(id)?.length ?? 0) > MAX_DEPENDENTS) {
      const what = `Task "${id}" would have more than ${MAX_DEPENDENTS} dependents.`;
      throw new MusterError('VALIDATION_ERROR', what, {
        field,
        value: id,
        reason: 'TOO_MANY_DEPENDENTS',
        suggestion: 'Add a task that depends on this task, and let the new dependents depend on the added task.',
      });
    }
    existing.set(id, task);
  }
  return existing;
}

type DependencyState = Pick<Task, 'blockers' | 'failed_dependencies' | 'stuck_dependencies' | 'stuck_unsettled'>;

/** Returns the fields that a task derives from its dependencies. An unsettled dependency updates them later. */
export function dependencyStateOf(dependencies: readonly Task[]): DependencyState {
  const failed = dependencies.filter(({ status }) => status === 'failed' || status === 'cancelled');
  const stuck = dependencies.flatMap(({ id, status, stuck_by }) =>
    stuck_by !== undefined && status !== 'done' ? [[id, stuck_by] as const] : [],
  );
  return {
    blockers: dependencies.filter(({ status }) => status !== 'done').length,
    failed_dependencies: failed.map(({ id }) => id),
    stuck_dependencies: Object.fromEntries(stuck),
    stuck_unsettled: failed.length + stuck.length > 0,
  };
}

/** Checks new dependencies. @throws MusterError VALIDATION_ERROR for a cycle, or for too many tasks to check */
export async function requireNoCycle(
  tasks: CoordinationPorts['tasks'],
  task: Task,
  dependencies: readonly Task[],
): Promise<void> {
  // A task without dependents cannot be part of a cycle, unless it depends on itself.
  if (task.dependents.length === 0 && !dependencies.some(({ id }) => id === task.id)) return;
  const paths: Paths = new Map(dependencies.map(({ id }) => [id, [task.id, id]]));
  let level = dependencies;
  while (level.length > 0) {
    const cyclic = paths.get(task.id);
    if (cyclic !== undefined) throw cycleError(cyclic, 'dependencies');
    if (paths.size > MAX_VISITED) throw graphTooLarge();
    const further = nextLevel(level, paths);
    level = (await tasks.findAll(further)).flatMap((found) => found?.value ?? []);
  }
}

/** For each visited task, the path from the updated task to it. */
type Paths = Map<string, readonly string[]>;

/** Returns the dependencies of a level's tasks that were not visited before, and stores the paths to them. */
function nextLevel(level: readonly Task[], paths: Paths): readonly string[] {
  const further: string[] = [];
  for (const { id, status, dependencies } of level) {
    // Completed tasks block nothing.
    const open = status === 'done' ? [] : dependencies.filter((dependency) => !paths.has(dependency));
    for (const dependency of open) paths.set(dependency, [...(paths.get(id) ?? []), dependency]);
    further.push(...open);
  }
  return further;
}

function cycleError(path: readonly string[], field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', `The dependencies form a cycle: ${path.join(' -> ')}.`, {
    field,
    reason: 'DEPENDENCY_CYCLE',
    suggestion: 'Remove one of these dependencies.',
  });
}

function graphTooLarge(): MusterError {
  const what = `These dependencies depend on more than ${MAX_VISITED} other tasks, too many to check for a cycle.`;
  return new MusterError('VALIDATION_ERROR', what, {
    field: 'dependencies',
    reason: 'TOO_MANY_DEPENDENCIES',
    suggestion: 'Create a new task with these dependencies, and cancel this task.',
  });
}
