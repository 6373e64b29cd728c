/** Makes something new a part of what it is for. Links are made when their lower end is, so there is no way round. */

import { z } from 'zod';
import type { Principal } from '../../identity/rules/principal.ts';
import type { Versioned } from '../../kernel/commit.ts';
import { MusterError } from '../../kernel/errors.ts';
import { idOf } from '../../kernel/ids.ts';
import {
  type GraphNode,
  isOpenNode,
  keyOfNode,
  MAX_LEVELS,
  MAX_PARTS,
  NODE_KINDS,
  type NodeKind,
  type NodeRef,
  nodeKey,
  nodeNotFound,
  type Place,
} from './graphNode.ts';
import type { GraphChange, GraphQueries } from './ports.ts';

/** The argument of all tools that create. */
export const partOf = z
  .strictObject({
    id: idOf('a todo, task, run or pull request').describe('Its id'),
    kind: z.enum(NODE_KINDS).describe('What that is'),
  })
  .optional()
  .describe('Its cause');

export const partOfShape = z
  .object({ kind: z.enum(NODE_KINDS), id: z.string().optional() })
  .describe('What it was made for. Of a to-do, only that it is one.');

/** Who looks, and from where. */
export interface Viewer {
  /** Absent: Muster itself, which has found the thing by what it stored. */
  readonly principal?: Principal | undefined;
  readonly workspace: string;
}

/** Finds a thing by its id; gives undefined where there is none that the viewer may see. */
export type NodeFinder = (id: string, viewer: Viewer) => Promise<Versioned<GraphNode> | undefined>;

export interface GraphPorts {
  readonly graph: GraphQueries;
  readonly nodes: Readonly<Record<NodeKind, NodeFinder>>;
}

/** Where something new is in the graph, and what changes of that which it is part of. */
export interface Link<Change = GraphChange> {
  readonly place: Place;
  readonly changes: readonly Change[];
}

export interface WantedLink extends Viewer {
  readonly part_of: NodeRef;
  /** How many new parts it gets. */
  readonly count?: number;
  /** The argument that names it. */
  readonly field?: string;
}

/**
 * Reads one document, and another where the thing is in the graph already.
 * @throws MusterError NOT_FOUND where the viewer sees no such thing; VALIDATION_ERROR where it can have no more parts
 */
export async function linkTo({ graph, nodes }: GraphPorts, wanted: WantedLink): Promise<Link> {
  const { part_of, count = 1, field = 'part_of' } = wanted;
  const found = await nodes[part_of.kind](part_of.id, wanted);
  if (found === undefined) throw nodeNotFound(part_of, `${field}.id`);
  const { value: node, version } = found;
  const above = node.ancestors ?? [];
  if (above.length + 2 > MAX_LEVELS)
    throw tooMuch(
      field,
      'TOO_DEEP',
      `A graph has at most ${MAX_LEVELS} levels: ${pathOf(node).join(' in ')}.`,
    );
  const parts = node.ancestors === undefined ? 0 : await graph.countParts(keyOfNode(node));
  if (parts + count > MAX_PARTS)
    throw tooMuch(field, 'TOO_MANY_PARTS', `It would have more than ${MAX_PARTS} parts, and has ${parts}.`);
  return {
    place: { part_of: { kind: part_of.kind, id: part_of.id }, ancestors: [keyOfNode(node), ...above] },
    changes: node.ancestors === undefined ? [{ kind: 'enlist', node, version }] : [],
  };
}

/** Where each of several is in the graph, by what it is part of. */
export interface Links<Change = GraphChange> extends Pick<Link<Change>, 'changes'> {
  placeOf(partOf: NodeRef | undefined): Place | undefined;
}

/** The same for several at once; shared parents are looked up once. @param fieldOf the argument that names a parent */
export async function linkAll(
  ports: GraphPorts,
  wanted: readonly (NodeRef | undefined)[],
  viewer: Viewer,
  fieldOf: (index: number) => string,
): Promise<Links> {
  const keys = wanted.map((partOf) => partOf && nodeKey(partOf));
  const links = new Map<string, Link>();
  for (const [index, partOf] of wanted.entries()) {
    const key = keys[index];
    if (partOf === undefined || key === undefined || links.has(key)) continue;
    const count = keys.filter((one) => one === key).length;
    links.set(key, await linkTo(ports, { ...viewer, part_of: partOf, count, field: fieldOf(index) }));
  }
  return {
    placeOf: (partOf) => partOf && links.get(nodeKey(partOf))?.place,
    changes: [...links.values()].flatMap(({ changes }) => changes),
  };
}

/** What something is part of, the nearest first and itself before that. */
export function pathOf(node: GraphNode): readonly string[] {
  return [keyOfNode(node), ...(node.ancestors ?? [])];
}

function tooMuch(field: string, reason: string, message: string): MusterError {
  const suggestion = 'Make it part of something further up, or put something in between.';
  return new MusterError('VALIDATION_ERROR', message, { field, reason, suggestion });
}

/** Whether a thing is part of something that is open, or has a part that is. */
export async function isPartOfOpenWork(
  { graph }: GraphPorts,
  ref: NodeRef,
  { ancestors }: Place,
): Promise<boolean> {
  if (ancestors === undefined) return false;
  const [{ open }, above] = await Promise.all([graph.progressOf(ref), graph.findAll(ancestors)]);
  return open > 0 || above.some((node) => node !== undefined && !node.deleted && isOpenNode(node.status));
}
