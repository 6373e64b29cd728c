/** Tasks and edges of a graph, its layout, and keyboard navigation. */
import type { Task } from '../../live/documents.ts';

/** Sizes in CSS pixels. */
export const NODE_WIDTH = 272;
export const NODE_HEIGHT = 78;
export const MARGIN = 28;
const GAP = 26;
const SINGLES_PER_ROW = 3;
const COLUMN_GAP = 66;

export interface Edge {
  readonly from: string;
  readonly to: string;
}

export interface Wanted {
  readonly ids: readonly string[];
  readonly edges: readonly Edge[];
}

/** Top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly (Point & { readonly id: string })[];
  /** Distance from the top at which the tasks without dependencies begin; undefined if no such task exists. */
  readonly singlesAt: number | undefined;
}

/** Distance from the visible part within which nodes are drawn too. It is longer than a node. */
const OVERSCAN = 400;
type Part = Point & Pick<Layout, 'width' | 'height'>;

/** Returns whether a node, or the edge between two nodes, is in or near the visible part of the drawing. */
export function isNear({ x, y, width, height }: Part, from: Point, to = from): boolean {
  const isWithin = (one: number, other: number, start: number, length: number) =>
    Math.max(one, other) > start - OVERSCAN && Math.min(one, other) < start + length + OVERSCAN;
  return isWithin(from.x, to.x, x, width) && isWithin(from.y, to.y, y, height);
}

/** Returns the corner of the visible part after it was moved so that it contains a node. */
export function revealed({ x, y, width, height }: Part, node: Point): Point {
  const moved = (start: number, whole: number, from: number, length: number) =>
    Math.max(from + length + MARGIN - whole, Math.min(from - MARGIN, start));
  return { x: moved(x, width, node.x, NODE_WIDTH), y: moved(y, height, node.y, NODE_HEIGHT) };
}

/** Maximum tasks in a graph with all closed tasks. Larger graphs omit closed tasks that no open task depends on. */
const MAX_WHOLE = 200;

export function shownTasks(open: readonly Task[], closed: readonly Task[], isWhole: boolean): readonly Task[] {
  if (isWhole || open.length + closed.length <= MAX_WHOLE) return [...closed, ...open];
  const needed = new Set(open.flatMap(({ dependencies }) => dependencies));
  return [...closed.filter(({ id }) => needed.has(id)), ...open];
}

export function edgesOf(tasks: readonly Task[]): readonly Edge[] {
  const known = new Set(tasks.map(({ id }) => id));
  return tasks.flatMap(({ id, dependencies }) =>
    dependencies.filter((from) => known.has(from)).map((from) => ({ from, to: id })),
  );
}

/** Returns the tasks that are connected with each other, in the order of the first task of each group. */
export function componentsOf({ ids, edges }: Wanted): readonly (readonly string[])[] {
  const parents = new Map(ids.map((id) => [id, id]));
  const rootOf = (id: string): string => {
    let at = id;
    for (let parent = parents.get(at); parent !== undefined && parent !== at; parent = parents.get(at)) at = parent;
    parents.set(id, at);
    return at;
  };
  for (const { from, to } of edges) parents.set(rootOf(from), rootOf(to));
  const groups = new Map<string, string[]>();
  for (const id of ids) groups.set(rootOf(id), [...(groups.get(rootOf(id)) ?? []), id]);
  return [...groups.values()];
}

/** @returns positions of a group's nodes, from its own top left corner */
type LayOut = (wanted: Wanted) => { readonly width: number; readonly height: number; readonly nodes: Layout['nodes'] };

/** Places one connected group below the other, and the tasks without dependencies last, in rows of three. */
export function stacked(wanted: Wanted, layOut: LayOut): Layout {
  const components = componentsOf(wanted);
  const nodes: (Point & { readonly id: string })[] = [];
  let [top, width] = [MARGIN, SINGLES_PER_ROW * NODE_WIDTH + (SINGLES_PER_ROW - 1) * COLUMN_GAP];
  for (const ids of components) {
    if (ids.length === 1) continue;
    const members = new Set(ids);
    const group = layOut({ ids, edges: wanted.edges.filter(({ from }) => members.has(from)) });
    for (const { id, x, y } of group.nodes) nodes.push({ id, x: x + MARGIN, y: y + top });
    top += group.height + GAP * 2;
    width = Math.max(width, group.width);
  }
  const singles = components.flatMap((ids) => (ids.length === 1 ? ids : []));
  const singlesAt = singles.length > 0 && nodes.length > 0 ? top : undefined;
  if (singlesAt !== undefined) top += GAP;
  for (const [index, id] of singles.entries()) {
    const [column, row] = [index % SINGLES_PER_ROW, Math.floor(index / SINGLES_PER_ROW)];
    nodes.push({ id, x: MARGIN + column * (NODE_WIDTH + COLUMN_GAP), y: top + row * (NODE_HEIGHT + GAP) });
  }
  const rows = Math.ceil(singles.length / SINGLES_PER_ROW);
  return { width: width + 2 * MARGIN, height: top + rows * (NODE_HEIGHT + GAP) + MARGIN, nodes, singlesAt };
}

/** Returns the curve of an edge, from the right side of one node to the left side of another. */
export function curve(from: Point, to: Point): string {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  const [x2, y2] = [to.x - 3, to.y + NODE_HEIGHT / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Splits a title into at most two lines of a node. */
export function linesOf(title: string, letters = 28): readonly string[] {
  if (title.length <= letters) return [title];
  const cut = title.lastIndexOf(' ', letters);
  const at = cut > letters / 2 ? cut : letters;
  const rest = title.slice(at).trim();
  return [title.slice(0, at), rest.length > letters ? `${rest.slice(0, letters - 1)}…` : rest];
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
