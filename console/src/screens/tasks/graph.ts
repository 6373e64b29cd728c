/** Tasks and edges of a graph, and keyboard navigation. */
import type { Task } from '../../live/documents.ts';

/** Sizes in CSS pixels. */
export const NODE_WIDTH = 196;
export const NODE_HEIGHT = 44;

export interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface Wanted {
  readonly ids: readonly string[];
  readonly edges: readonly Edge[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Point & { readonly id: string })[];
  readonly edges: readonly (Edge & { readonly points: readonly Point[] })[];
}

/** Maximum tasks in a graph with all closed tasks. Larger graphs omit closed tasks that no open task depends on. */
const MAX_WHOLE = 200;

export function shownTasks(open: readonly Task[], closed: readonly Task[]): readonly Task[] {
  if (open.length + closed.length <= MAX_WHOLE) return [...closed, ...open];
  const needed = new Set(open.flatMap(({ dependencies }) => dependencies));
  return [...closed.filter(({ id }) => needed.has(id)), ...open];
}

export function edgesOf(tasks: readonly Task[]): readonly Edge[] {
  const known = new Set(tasks.map(({ id }) => id));
  return tasks.flatMap(({ id, dependencies }) =>
    dependencies.filter((from) => known.has(from)).map((from) => ({ from, to: id })),
  );
}

/** Returns the task that an arrow key leads to: along an edge, or to the next task with the same dependency. */
export function step(tasks: readonly Task[], at: string, key: string): string | undefined {
  const edges = edgesOf(tasks);
  if (key === 'ArrowRight') return edges.find(({ from }) => from === at)?.to;
  if (key === 'ArrowLeft') return edges.find(({ to }) => to === at)?.from;
  const by = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (by === undefined) return undefined;
  const before = edges.find(({ to }) => to === at)?.from;
  const neighbors =
    before === undefined
      ? tasks.map(({ id }) => id).filter((id) => edges.every(({ to }) => to !== id))
      : edges.filter(({ from }) => from === before).map(({ to }) => to);
  return neighbors[neighbors.indexOf(at) + by];
}
