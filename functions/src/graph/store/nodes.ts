/**
 * The graph as Firestore keeps it: `graph/{kind-id}` is what is known of one thing and of everything below it. Totals
 * are added to by the commit that changes a thing, and never worked out from what is below.
 */
import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import {
  COLLECTIONS,
  graphPath,
  pullRequestPath,
  runPath,
  taskPath,
  todoPath,
} from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites } from '../../kernel/firestore/store.ts';
import type { Page, Slice } from '../../kernel/paging.ts';
import {
  exactUsd,
  type GraphChanges,
  type GraphNode,
  MAX_PARTS,
  NODE_KINDS,
  NODE_STATUSES,
  type NodeKind,
  type NodeRef,
  type NodeStatus,
  nodeKey,
} from '../rules/node.ts';

const CLOSED: readonly NodeStatus[] = ['done', 'failed', 'cancelled'];

const OPEN = NODE_STATUSES.filter((status) => !CLOSED.includes(status));

/** How many parts are named that have come to nothing. */
const FAILED_NAMED = 20;

const counts = z.partialRecord(z.enum(NODE_STATUSES), z.int());

const codec = documentCodec(
  z.object({
    kind: z.enum(NODE_KINDS),
    /** By which its own tools know it. */
    thing_id: z.string(),
    title: z.string(),
    workspace: z.string().nullable(),
    /** Of what is a person's own. */
    owner_uid: z.string().nullable(),
    part_of: z.object({ kind: z.enum(NODE_KINDS), id: z.string() }).nullable(),
    /** The keys of all that it is part of, the nearest first. */
    ancestors: z.array(z.string()),
    status: z.enum(NODE_STATUSES),
    created_at: timestamp,
    /** The thing is gone; its totals stay. */
    deleted: z.boolean(),
    /** Of itself and of everything below it. */
    totals: z.object({
      counts,
      attempts: z.number().default(0),
      input_tokens: z.number().default(0),
      output_tokens: z.number().default(0),
      /** Each change adds to it, so what is stored has errors of addition. */
      cost_usd: z.number().transform(exactUsd).default(0),
      milliseconds: z.number().default(0),
    }),
    /** How many things are directly part of it. */
    parts: z.int().default(0),
  }),
  { thing_id: 'id', deleted: 'isDeleted' },
);

export type StoredNode = ReturnType<typeof codec.fromDocument>;

export const nodeFromDocument = codec.fromDocument;

export class GraphQueries extends FirestoreReader {
  /** What is in the graph of these, in their order. */
  async findAll(keys: readonly string[]): Promise<readonly (StoredNode | undefined)[]> {
    if (keys.length === 0) return [];
    const documents = keys.map((key) => this.database.doc(graphPath(key)));
    const snapshots = await this.database.getAll(...documents);
    return snapshots.map((snapshot) => this.documents.readable(snapshot, nodeFromDocument)[0]);
  }

  async countParts(key: string): Promise<number> {
    const [node] = await this.findAll([key]);
    return node?.parts ?? 0;
  }

  /** How much below a thing is still open, and what of it has come to nothing, of that the first few. */
  async progressOf(ref: NodeRef) {
    const key = nodeKey(ref);
    const [node] = await this.findAll([key]);
    const { open = 0, in_progress = 0, waiting = 0, failed = 0 } = node?.totals.counts ?? {};
    const own = Number(node !== undefined && !CLOSED.includes(node.status));
    return {
      open: open + in_progress + waiting - own,
      failed: failed === 0 ? [] : await this.failedBelow(key),
    };
  }

  /** What of all that is below has failed. What was cancelled is not wanted any more, and nothing waits for it. */
  async failedBelow(key: string): Promise<readonly string[]> {
    const failed = this.database
      .collection(COLLECTIONS.graph)
      .where('ancestors', 'array-contains', key)
      .where('status', '==', 'failed');
    const { docs } = await failed.limit(FAILED_NAMED).get();
    return docs.map(({ id }) => id).sort();
  }

  /** The ids of what is directly part of a thing, of one kind, and open. */
  async openParts({ kind, id }: NodeRef, of: NodeKind): Promise<readonly string[]> {
    const parts = this.database
      .collection(COLLECTIONS.graph)
      .where('part_of.id', '==', id)
      .where('kind', '==', of)
      .where('status', 'in', OPEN);
    const ids: string[] = [];
    for await (const { value } of this.documents.first(parts, MAX_PARTS, nodeFromDocument))
      if (value.partOf?.kind === kind) ids.push(value.id);
    return ids;
  }

  /** Everything below, in the order in which it was made. */
  below(key: string, page: Page): Promise<Slice<StoredNode>> {
    const nodes = this.database.collection(COLLECTIONS.graph).where('ancestors', 'array-contains', key);
    return this.documents.slice(nodes, 'created_at', 'asc', page, nodeFromDocument);
  }
}

const THINGS: Readonly<Record<NodeKind, (id: string) => string>> = {
  todo: todoPath,
  task: taskPath,
  run: runPath,
  pull_request: pullRequestPath,
};

export const graphWriters: ChangeWriters<GraphChanges> = {
  enlist({ node, version }, writes) {
    writes.replace(THINGS[node.kind](node.id), { ancestors: [] }, version);
    enlistNode(node, writes);
  },
  recount({ before, after }, writes) {
    writeNode(before, after, writes);
  },
};

/** Begins to know a thing that gets its first part. */
export function enlistNode(node: GraphNode, writes: CommitWrites): void {
  writes.create(graphPath(nodeKey(node)), newDocument({ ...node, ancestors: [] }));
}

/**
 * Adds to the commit what a thing's change comes to in the graph; nothing where the thing is in none.
 * @param before undefined where it is new
 */
export function writeNode(before: GraphNode | undefined, after: GraphNode, writes: CommitWrites): void {
  const { ancestors, partOf } = after;
  if (ancestors === undefined) return;
  const own = graphPath(nodeKey(after));
  const added = difference(before && amountsOf(before), amountsOf(after));
  if (before === undefined) writes.create(own, newDocument(after));
  else writes.add(own, added, shownDifference(before, after));
  for (const key of ancestors) writes.add(graphPath(key), added);
  if (partOf !== undefined && before === undefined) writes.add(graphPath(nodeKey(partOf)), { parts: 1 });
}

function newDocument(node: GraphNode): Record<string, unknown> {
  const { status, attempts, spent, ancestors = [], isDeleted = false } = node;
  const totals = { counts: { [status]: 1 }, attempts, ...spent };
  const { workspace, ownerUid, ...rest } = node;
  return codec.toDocument({
    ...rest,
    ...(workspace !== undefined && { workspace }),
    ...(ownerUid !== undefined && { ownerUid }),
    ancestors,
    isDeleted,
    totals,
    parts: 0,
  });
}

/** Fields below the document by their paths, and what a thing adds to each. */
type Amounts = Readonly<Record<string, number>>;

function amountsOf({ status, attempts, spent }: GraphNode): Amounts {
  return {
    [`totals.counts.${status}`]: 1,
    'totals.attempts': attempts,
    'totals.input_tokens': spent.inputTokens,
    'totals.output_tokens': spent.outputTokens,
    'totals.cost_usd': spent.costUsd,
    'totals.milliseconds': spent.milliseconds,
  };
}

function difference(before: Amounts = {}, after: Amounts): Amounts {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries([...fields].map((field) => [field, (after[field] ?? 0) - (before[field] ?? 0)]));
}

/** What a tree shows of the thing itself and has changed. */
function shownDifference(before: GraphNode, after: GraphNode): Record<string, unknown> {
  const { status, title, isDeleted = false } = after;
  return {
    ...(before.status !== status && { status }),
    ...(before.title !== title && { title }),
    ...((before.isDeleted ?? false) !== isDeleted && { deleted: isDeleted }),
  };
}
