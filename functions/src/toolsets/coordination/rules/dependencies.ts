/** The dependencies of a batch: `task-N` means the batch's N-th task. Source: docs/semantics.md#coordination. */
import { MusterError } from '../../../kernel/errors.ts';

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
