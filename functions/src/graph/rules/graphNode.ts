/**
 * Nodes of the graph: to-dos, tasks, runs and pull requests. An item can be part of another item. The usage of a part
 * is added to the totals of all its ancestors. Source: docs/decisions/0035-graph-and-budgets.md.
 */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';

export const NODE_KINDS = ['todo', 'task', 'run', 'pull_request'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

export interface NodeRef {
  readonly kind: NodeKind;
  readonly id: string;
}

export const NODE_STATUSES = ['open', 'in_progress', 'waiting', 'done', 'failed', 'cancelled'] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

export function isOpenNode(status: NodeStatus): boolean {
  return status === 'open' || status === 'in_progress' || status === 'waiting';
}

/** Usage of an item. The cost contains only usage that a model's vendor bills. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  /** Tokens of models whose price is unknown. The cost does not contain them. */
  readonly unpriced_tokens?: number;
  readonly milliseconds: number;
}

/** Rounds US dollars to 12 decimals, the precision of a token's cost. The order of additions then does not matter. */
export function exactUsd(sum: number): number {
  return Number(sum.toFixed(12));
}

/** Returns the cost to show in US dollars; undefined if it is unknown, which must never look like 0. */
export function shownCost({ cost_usd, unpriced_tokens = 0 }: Pick<Usage, 'cost_usd' | 'unpriced_tokens'>) {
  return cost_usd === 0 && unpriced_tokens > 0 ? undefined : cost_usd;
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0, milliseconds: 0 };

/** Position of an item in the graph. `ancestors`, nearest first, is undefined if the item is not in the graph. */
export interface NodeParents {
  readonly part_of?: NodeRef;
  readonly ancestors?: readonly string[];
}

/** Item in the graph. All its fields follow from the item's own document. */
export interface GraphNode extends NodeParents {
  readonly kind: NodeKind;
  /** Id of the item, as the tools of its toolset return it. */
  readonly thing_id: string;
  readonly title: string;
  readonly workspace?: string;
  /** Owner, if the item belongs to a person and not to a workspace. */
  readonly owner_uid?: string;
  readonly status: NodeStatus;
  readonly attempts: number;
  readonly spent: Usage;
  readonly created_at: Date;
  readonly deleted?: boolean;
}

/** Returns the key of an item, which is the id of its graph document and a part of paths. Kinds contain no dash. */
export function nodeKey({ kind, id }: NodeRef): string {
  return `${kind}-${id}`;
}

/** Maximum number of levels, including the top level. A commit that changes an item writes all its ancestors. */
export const MAX_DEPTH = 10;

/** Maximum number of direct parts of an item. */
export const MAX_PARTS = 1000;
const TITLE_LENGTH = 200;

/** Returns the first line of a text, shortened for display in a tree. */
export function titleOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return [...line.slice(0, 2 * TITLE_LENGTH)].slice(0, TITLE_LENGTH).join('');
}

/** Fields of an item's own document that store the item's position in the graph. */
export const parentFields = {
  part_of: z._default(z.nullable(z.object({ kind: z.enum(NODE_KINDS), id: z.string() })), null),
  /** Keys of the ancestors, nearest first; null while the item is not in the graph. */
  ancestors: z._default(z.nullable(z.array(z.string())), null),
};

/** Returns the parent for display. If it is a to-do, only its kind is returned, because to-dos are private. */
export function shownPartOf({ part_of: parent }: NodeParents) {
  if (parent === undefined) return undefined;
  return parent.kind === 'todo' ? { kind: parent.kind } : { ...parent };
}

export function nodeNotFound({ kind, id }: NodeRef, field: string): MusterError {
  return new MusterError('NOT_FOUND', `The ${kind.replace('_', ' ')} "${id}" was not found.`, {
    field,
    value: id,
    reason: 'NO_SUCH_NODE',
    suggestion: 'Use the id of a task, run or pull request of this workspace, or of one of your to-dos.',
  });
}

export function keyOfNode({ kind, thing_id: id }: Pick<GraphNode, 'kind' | 'thing_id'>): string {
  return nodeKey({ kind, id });
}

export interface GraphChanges {
  /** Adds an item to the graph when it gets its first part. `version` is the version of the item's own document. */
  readonly addNode: { readonly node: GraphNode; readonly version: string };
  /** Replaces the usage of an item in the graph, if the change of the item itself does not update the graph. */
  readonly updateNode: { readonly before: GraphNode; readonly after: GraphNode };
}

const counts = z.partialRecord(z.enum(NODE_STATUSES), z.int());

export const { toDocument: nodeToDocument, fromDocument: nodeFromDocument } = documentCodec(
  z.object({
    kind: z.enum(NODE_KINDS),
    thing_id: z.string(),
    title: z.string(),
    workspace: z.nullable(z.string()),
    owner_uid: z.nullable(z.string()),
    part_of: z.nullable(z.object({ kind: z.enum(NODE_KINDS), id: z.string() })),
    /** Keys of the ancestors, nearest first. */
    ancestors: z.array(z.string()),
    status: z.enum(NODE_STATUSES),
    created_at: timestamp,
    /** Whether the item was deleted. The totals of a deleted item are kept. */
    deleted: z.boolean(),
    /** Totals of the item and all its descendants. */
    totals: z.object({
      counts,
      attempts: z._default(z.number(), 0),
      input_tokens: z._default(z.number(), 0),
      output_tokens: z._default(z.number(), 0),
      /** Rounded, because many additions accumulate floating-point errors. */
      cost_usd: z._default(z.pipe(z.number(), z.transform(exactUsd)), 0),
      unpriced_tokens: z.exactOptional(z.number()),
      milliseconds: z._default(z.number(), 0),
    }),
    parts: z._default(z.int(), 0),
  }),
);

/** Number of descendants that are open, and the keys of the first few that failed. */
export interface PartsProgress {
  readonly open: number;
  readonly failed: readonly string[];
}

export type StoredNode = ReturnType<typeof nodeFromDocument>;

interface Spending {
  readonly spent?: { readonly cost_usd: number } | undefined;
}

type CostlyChange = { readonly before: Spending } & ({ readonly task: Spending } | { readonly run: Spending });

/** Returns the cost in US dollars that changes of tasks and runs add. */
export function addedCost(changes: readonly CostlyChange[]): number {
  const costOf = ({ spent }: Spending) => spent?.cost_usd ?? 0;
  const added = changes.map((one) => costOf('task' in one ? one.task : one.run) - costOf(one.before));
  return added.reduce((sum, one) => sum + Math.max(0, one), 0);
}
