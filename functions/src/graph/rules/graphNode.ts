/**
 * What a to-do, a task, a run and a pull request have in common: each may be part of another, and each adds what it
 * has taken to the totals of all that it is part of. Source: docs/decisions/0035-graph-and-budgets.md.
 */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { MusterError } from '../../kernel/errors.ts';

export const NODE_KINDS = ['todo', 'task', 'run', 'pull_request'] as const;

export type NodeKind = (typeof NODE_KINDS)[number];

/** Which thing: its kind, and the id that its own tools know it by. */
export interface NodeRef {
  readonly kind: NodeKind;
  readonly id: string;
}

/** How far a thing has come, whatever its kind calls that. */
export const NODE_STATUSES = ['open', 'in_progress', 'waiting', 'done', 'failed', 'cancelled'] as const;

export type NodeStatus = (typeof NODE_STATUSES)[number];

export function isOpenNode(status: NodeStatus): boolean {
  return status === 'open' || status === 'in_progress' || status === 'waiting';
}

/** What work on a thing has taken; money only where somebody was paid by use. */
export interface Spent {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly milliseconds: number;
}

/** Rounds US dollars so that the order of additions does not matter: the cost of one token has at most 12 decimals. */
export function exactUsd(sum: number): number {
  return Number(sum.toFixed(12));
}

export const NO_WORK: Spent = { input_tokens: 0, output_tokens: 0, cost_usd: 0, milliseconds: 0 };

/** Where a thing is in the graph. `ancestors`, the nearest first, are absent where it is in none. */
export interface Place {
  readonly part_of?: NodeRef;
  readonly ancestors?: readonly string[];
}

/** A thing as the graph knows it: all of it follows from the thing's own document. */
export interface GraphNode extends Place {
  readonly kind: NodeKind;
  /** By which its own tools know it. */
  readonly thing_id: string;
  readonly title: string;
  readonly workspace?: string | undefined;
  /** Of what is a person's own. */
  readonly owner_uid?: string | undefined;
  readonly status: NodeStatus;
  readonly attempts: number;
  readonly spent: Spent;
  readonly created_at: Date;
  readonly deleted?: boolean;
}

/** As Firestore names it in `graph`, and as a path lists it. No kind has a dash. */
export function nodeKey({ kind, id }: NodeRef): string {
  return `${kind}-${id}`;
}

/** The most levels that a graph has, the uppermost with them: each commit writes to all that are above. */
export const MAX_LEVELS = 10;

/** How many parts one thing has at most. */
export const MAX_PARTS = 1000;

const TITLE_LENGTH = 200;

/** Of a text, what a tree shows. */
export function titleOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  return [...line.slice(0, 2 * TITLE_LENGTH)].slice(0, TITLE_LENGTH).join('');
}

/** The fields by which a thing's own document says where it is in the graph. */
export const placeFields = {
  /** What it was made for. */
  part_of: z._default(z.nullable(z.object({ kind: z.enum(NODE_KINDS), id: z.string() })), null),
  /** All that it is part of, the nearest first; null while it is in no graph, which then has nothing of it. */
  ancestors: z._default(z.nullable(z.array(z.string())), null),
};

/** The same to nobody's eyes but those who may see it: of what is a person's own, others learn the kind. */
export function shownPartOf({ part_of: parent }: Place) {
  if (parent === undefined) return undefined;
  return parent.kind === 'todo' ? { kind: parent.kind } : { ...parent };
}

export function nodeNotFound({ kind, id }: NodeRef, field: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no ${kind.replace('_', ' ')} "${id}" here.`, {
    field,
    value: id,
    reason: 'NO_SUCH_NODE',
    suggestion: 'Name a task, run or pull request of this workspace, or a to-do of yours, by its id.',
  });
}

/** What commits may change of the graph, beside what follows from the changes of things. */
export function keyOfNode({ kind, thing_id: id }: Pick<GraphNode, 'kind' | 'thing_id'>): string {
  return nodeKey({ kind, id });
}

export interface GraphChanges {
  /** A thing gets its first part: from this version on its document says that it is in the graph. */
  readonly enlist: { readonly node: GraphNode; readonly version: string };
  /** A thing that a change does not carry has changed: what the graph has counted, and what it is to count. */
  readonly recount: { readonly before: GraphNode; readonly after: GraphNode };
}

const counts = z.partialRecord(z.enum(NODE_STATUSES), z.int());

export const { toDocument: nodeToDocument, fromDocument: nodeFromDocument } = documentCodec(
  z.object({
    kind: z.enum(NODE_KINDS),
    /** By which its own tools know it. */
    thing_id: z.string(),
    title: z.string(),
    workspace: z.nullable(z.string()),
    /** Of what is a person's own. */
    owner_uid: z.nullable(z.string()),
    part_of: z.nullable(z.object({ kind: z.enum(NODE_KINDS), id: z.string() })),
    /** The keys of all that it is part of, the nearest first. */
    ancestors: z.array(z.string()),
    status: z.enum(NODE_STATUSES),
    created_at: timestamp,
    /** The thing is gone; its totals stay. */
    deleted: z.boolean(),
    /** Of itself and of everything below it. */
    totals: z.object({
      counts,
      attempts: z._default(z.number(), 0),
      input_tokens: z._default(z.number(), 0),
      output_tokens: z._default(z.number(), 0),
      /** Each change adds to it, so what is stored has errors of addition. */
      cost_usd: z._default(z.pipe(z.number(), z.transform(exactUsd)), 0),
      milliseconds: z._default(z.number(), 0),
    }),
    /** How many things are directly part of it. */
    parts: z._default(z.int(), 0),
  }),
);

/** How much below a thing is still open, and the keys of the first few things there that have failed. */
export interface PartsProgress {
  readonly open: number;
  readonly failed: readonly string[];
}

export type StoredNode = ReturnType<typeof nodeFromDocument>;
