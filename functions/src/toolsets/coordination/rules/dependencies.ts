/** What tasks depend on: references of a batch, cycles, and how a task stands to its dependencies. Source: docs/semantics.md#coordination. */

import type { Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readIn } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from './ports.ts';
import type { Session } from './session.ts';
import type { Task } from './task.ts';

/** The most tasks that may depend on one task: closing it touches each. */
const MAX_DEPENDENTS = 1000;

/** How many tasks are read to find out whether new dependencies of a task that others wait for form a cycle. */
const MAX_WALKED = 1000;

const BATCH_REFERENCE = /^task-(\d+)$/;

/** A dependency on the task at a place of the same batch (from 0), or on one that exists already, by its id. */
export type Dependency = { readonly sibling: number } | { readonly existing: string };

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

export type TasksById = ReadonlyMap<string, Versioned<Task>>;

/** For each task that others come to depend on: their ids. */
export type Dependents = ReadonlyMap<string, readonly string[]>;

interface WantedDependencies {
  readonly ids: readonly string[];
  readonly dependents: Dependents;
  readonly fieldFor: (id: string) => string;
}

/**
 * Reads the tasks of a session that others are to depend on.
 * @param wanted `dependents`: those that come to depend on them; `fieldFor`: the argument that names a dependency
 * @throws MusterError VALIDATION_ERROR for one that is not there, or that too many would depend on
 */
export async function readDependencies(
  tasks: CoordinationPorts['tasks'],
  session: Pick<Session, 'id' | 'workspace'>,
  { ids, dependents, fieldFor }: WantedDependencies,
): Promise<TasksById> {
  const found = await tasks.findAll(ids);
  const existing = new Map<string, Versioned<Task>>();
  for (const [place, id] of ids.entries()) {
    // Which says so where it cannot be read.
    const read = () => readIn((one) => one === session.workspace, tasks.find(id));
    const task = found[place] ?? (await read());
    const field = fieldFor(id);
    if (task?.value.session !== session.id) {
      throw new MusterError('VALIDATION_ERROR', `Unknown dependency "${id}".`, {
        field,
        value: id,
        reason: 'UNKNOWN_DEPENDENCY',
        suggestion: 'Name tasks of this workspace by their ids, as coordination.get_all_tasks lists them.',
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

type Standing = Pick<Task, 'blockers' | 'failed_dependencies' | 'stuck_dependencies' | 'stuck_unsettled'>;

/** How a task stands to the tasks that it depends on. Those that wait for it are told where that is unsettled. */
export function standingOf(dependencies: readonly Task[]): Standing {
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

/** Looks for a cycle over new dependencies. @throws MusterError VALIDATION_ERROR with its path, or if too many are to be read */
export async function requireNoCycle(
  tasks: CoordinationPorts['tasks'],
  task: Task,
  dependencies: readonly Task[],
): Promise<void> {
  // Nothing leads back to a task that nobody depends on.
  if (task.dependents.length === 0 && !dependencies.some(({ id }) => id === task.id)) return;
  const paths: Paths = new Map(dependencies.map(({ id }) => [id, [task.id, id]]));
  let level = dependencies;
  while (level.length > 0) {
    const cyclic = paths.get(task.id);
    if (cyclic !== undefined) throw cycle(cyclic);
    if (paths.size > MAX_WALKED) throw tooManyToWalk();
    const further = nextLevel(level, paths);
    level = (await tasks.findAll(further)).flatMap((found) => found?.value ?? []);
  }
}

/** How the walk has come to a task, by its id. */
type Paths = Map<string, readonly string[]>;

/** The tasks that those of a level depend on and the walk has not come to yet: it notes how it came to them. */
function nextLevel(level: readonly Task[], paths: Paths): readonly string[] {
  const further: string[] = [];
  for (const { id, status, dependencies } of level) {
    // What is done stands in nobody's way.
    const open = status === 'done' ? [] : dependencies.filter((dependency) => !paths.has(dependency));
    for (const dependency of open) paths.set(dependency, [...(paths.get(id) ?? []), dependency]);
    further.push(...open);
  }
  return further;
}

function cycle(path: readonly string[]): MusterError {
  return new MusterError('VALIDATION_ERROR', `The dependencies form a cycle: ${path.join(' -> ')}.`, {
    field: 'dependencies',
    reason: 'DEPENDENCY_CYCLE',
    suggestion: 'Leave one of these dependencies out.',
  });
}

function tooManyToWalk(): MusterError {
  const what = `More than ${MAX_WALKED} tasks lie before these dependencies, too many to look for a cycle.`;
  return new MusterError('VALIDATION_ERROR', what, {
    field: 'dependencies',
    reason: 'TOO_MANY_DEPENDENCIES',
    suggestion: 'Create another task with these dependencies, and cancel this one.',
  });
}
