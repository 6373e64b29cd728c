/** Links a new item to its parent. Only new items are linked, and only to existing items, so no cycles can arise. */
import { z } from 'zod';
import type { Principal } from '../../identity/rules/principal.ts';
import type { Versioned } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import { idOf } from '../../kernel/ids.ts';
import {
  type GraphNode,
  isOpenNode,
  keyOfNode,
  MAX_DEPTH,
  MAX_PARTS,
  NODE_KINDS,
  type NodeKind,
  type NodeParents,
  type NodeRef,
  nodeKey,
  nodeNotFound,
} from './graphNode.ts';
import type { GraphChange, GraphQueries } from './ports.ts';

/** Argument of every tool that creates items. */
export const partOf = z
  .strictObject({
    id: idOf('a todo, task, run or pull request').describe('Its id'),
    kind: z.enum(NODE_KINDS).describe('Its kind'),
  })
  .optional()
  .describe('Its parent');

export const partOfShape = z
  .object({ kind: z.enum(NODE_KINDS), id: z.string().optional() })
  .describe('Its parent. If the parent is a to-do, only its kind.');

/** Caller that must be allowed to see an item, and the workspace of the call. */
export interface Viewer {
  /** Undefined if Muster itself follows a stored reference. */
  readonly principal?: Principal | undefined;
  readonly workspace: string;
}

/** Finds an item by its id. Returns undefined if the item does not exist or the viewer may not see it. */
export type NodeFinder = (id: string, viewer: Viewer) => Promise<Versioned<GraphNode> | undefined>;

export interface GraphPorts {
  readonly graph: GraphQueries;
  readonly nodes: Readonly<Record<NodeKind, NodeFinder>>;
}

export interface ParentLink<Change = GraphChange> {
  readonly parents: NodeParents;
  readonly changes: readonly Change[];
}

/**
 * Links a new item to a parent. Reads one document, or two if the parent is already in the graph.
 * @param wanted `field`: the argument that contains the parent, for errors
 * @throws MusterError NOT_FOUND if the parent is hidden or missing; VALIDATION_ERROR if it cannot have more parts
 */
export async function linkToParent(
  { graph, nodes }: GraphPorts,
  wanted: Viewer & { readonly part_of: NodeRef; readonly count?: number; readonly field?: string },
): Promise<ParentLink> {
  const { part_of, count = 1, field = 'part_of' } = wanted;
  const found = await nodes[part_of.kind](part_of.id, wanted);
  if (found === undefined) throw nodeNotFound(part_of, `${field}.id`);
  const { value: node, version } = found;
  const above = node.ancestors ?? [];
  if (above.length + 2 > MAX_DEPTH)
    throw limitExceeded(
      field,
      'TOO_DEEP',
      `Items can nest at most ${MAX_DEPTH} levels. The parent is already at the deepest level: ${pathOf(node).join(' in ')}.`,
    );
  const parts = node.ancestors === undefined ? 0 : await graph.countParts(keyOfNode(node));
  if (parts + count > MAX_PARTS)
    throw limitExceeded(field, 'TOO_MANY_PARTS', `The parent has ${parts} parts; the limit is ${MAX_PARTS}.`);
  return {
    parents: { part_of: { kind: part_of.kind, id: part_of.id }, ancestors: [keyOfNode(node), ...above] },
    changes: node.ancestors === undefined ? [{ kind: 'addNode', node, version }] : [],
  };
}

export interface Links<Change = GraphChange> extends Pick<ParentLink<Change>, 'changes'> {
  parentsOf(partOf: NodeRef | undefined): NodeParents | undefined;
}

/** Like `linkToParent` for several items. Reads each parent once. @param fieldOf argument that contains a parent */
export async function linkAllToParents(
  ports: GraphPorts,
  wanted: readonly (NodeRef | undefined)[],
  viewer: Viewer,
  fieldOf: (index: number) => string,
): Promise<Links> {
  const keys = wanted.map((partOf) => partOf && nodeKey(partOf));
  const links = new Map<string, ParentLink>();
  for (const [index, partOf] of wanted.entries()) {
    const key = keys[index];
    if (partOf === undefined || key === undefined || links.has(key)) continue;
    const count = keys.filter((one) => one === key).length;
    links.set(key, await linkToParent(ports, { ...viewer, part_of: partOf, count, field: fieldOf(index) }));
  }
  return {
    parentsOf: (partOf) => partOf && links.get(nodeKey(partOf))?.parents,
    changes: [...links.values()].flatMap(({ changes }) => changes),
  };
}

/** Returns the key of an item, followed by the keys of its ancestors, nearest first. */
export function pathOf(node: GraphNode): readonly string[] {
  return [keyOfNode(node), ...(node.ancestors ?? [])];
}

function limitExceeded(field: string, reason: string, message: string): MusterError {
  const suggestion = 'Set part_of to another item, such as one with fewer ancestors or fewer parts.';
  return new MusterError('VALIDATION_ERROR', message, { field, reason, suggestion });
}

/** Returns whether an item has an open ancestor or descendant. */
export async function hasOpenAncestor(
  { graph }: GraphPorts,
  ref: NodeRef,
  { ancestors }: NodeParents,
): Promise<boolean> {
  if (ancestors === undefined) return false;
  const [{ open }, above] = await Promise.all([graph.progressOf(ref), graph.findAll(ancestors)]);
  return open > 0 || above.some((node) => node !== undefined && !node.deleted && isOpenNode(node.status));
}
