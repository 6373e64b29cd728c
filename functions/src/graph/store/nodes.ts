/** Storage of the graph in Firestore: `graph/{kind-id}` has the totals of an item. Commits increment these totals. */
import { COLLECTIONS, graphPath, pullRequestPath, runPath, taskPath, todoPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites } from '../../kernel/firestore/store.ts';
import type { ListPage, PageRequest } from '../../kernel/paging.ts';
import * as graphNode from '../rules/graphNode.ts';
import type { GraphQueries } from '../rules/ports.ts';

const CLOSED: readonly graphNode.NodeStatus[] = ['done', 'failed', 'cancelled'];
const OPEN = graphNode.NODE_STATUSES.filter((status) => !CLOSED.includes(status));
const MAX_FAILED_NAMED = 20;

export class FirestoreGraphQueries extends FirestoreReader implements GraphQueries {
  async findAll(keys: readonly string[]): Promise<readonly (graphNode.StoredNode | undefined)[]> {
    const snapshots = await this.documentsAt(keys.map(graphPath));
    return snapshots.map((snapshot) => this.documents.readable(snapshot, graphNode.nodeFromDocument)[0]);
  }

  async countParts(key: string): Promise<number> {
    const [node] = await this.findAll([key]);
    return node?.parts ?? 0;
  }

  async progressOf(ref: graphNode.NodeRef): Promise<graphNode.PartsProgress> {
    const key = graphNode.nodeKey(ref);
    const [node] = await this.findAll([key]);
    const { open = 0, in_progress = 0, waiting = 0, failed = 0 } = node?.totals.counts ?? {};
    const own = Number(node !== undefined && !CLOSED.includes(node.status));
    return { open: open + in_progress + waiting - own, failed: failed === 0 ? [] : await this.failedDescendants(key) };
  }

  async failedDescendants(key: string): Promise<readonly string[]> {
    const failed = this.database
      .collection(COLLECTIONS.graph)
      .where('ancestors', 'array-contains', key)
      .where('status', '==', 'failed');
    const { docs } = await failed.limit(MAX_FAILED_NAMED).get();
    return docs.map(({ id }) => id).sort();
  }

  async openParts({ kind, id }: graphNode.NodeRef, of: graphNode.NodeKind): Promise<readonly string[]> {
    const parts = this.database
      .collection(COLLECTIONS.graph)
      .where('part_of.id', '==', id)
      .where('kind', '==', of)
      .where('status', 'in', OPEN);
    const ids: string[] = [];
    for await (const { value } of this.documents.first(parts, graphNode.MAX_PARTS, graphNode.nodeFromDocument))
      if (value.part_of?.kind === kind) ids.push(value.thing_id);
    return ids;
  }

  descendants(key: string, page: PageRequest): Promise<ListPage<graphNode.StoredNode>> {
    const nodes = this.database.collection(COLLECTIONS.graph).where('ancestors', 'array-contains', key);
    return this.documents.slice(nodes, ['created_at', 'asc'], page, graphNode.nodeFromDocument);
  }
}

const ITEM_KINDS: Readonly<Record<graphNode.NodeKind, (id: string) => string>> = {
  todo: todoPath,
  task: taskPath,
  run: runPath,
  pull_request: pullRequestPath,
};

export const graphWriters: ChangeWriters<graphNode.GraphChanges> = {
  addNode({ node, version }, writes) {
    writes.replace(ITEM_KINDS[node.kind](node.thing_id), { ancestors: [] }, version);
    addNode(node, writes);
  },
  updateNode({ before, after }, writes) {
    writeNode(before, after, writes);
  },
};

/** Adds an item to the graph when it gets its first part. */
export function addNode(node: graphNode.GraphNode, writes: CommitWrites): void {
  writes.create(graphPath(graphNode.keyOfNode(node)), newDocument({ ...node, ancestors: [] }));
}

/** Writes the changes of an item to its graph node and its ancestors. @param before undefined if the item is new */
export function writeNode(
  before: graphNode.GraphNode | undefined,
  after: graphNode.GraphNode,
  writes: CommitWrites,
): void {
  const { ancestors, part_of } = after;
  if (ancestors === undefined) return;
  const own = graphPath(graphNode.keyOfNode(after));
  const added = difference(before && amountsOf(before), amountsOf(after));
  if (before === undefined) writes.create(own, newDocument(after));
  else writes.add(own, added, shownDifference(before, after));
  for (const key of ancestors) writes.add(graphPath(key), added);
  if (part_of !== undefined && before === undefined) writes.add(graphPath(graphNode.nodeKey(part_of)), { parts: 1 });
}

function newDocument(node: graphNode.GraphNode): Record<string, unknown> {
  const { status, attempts, spent, ancestors = [], deleted: isDeleted = false } = node;
  const totals = { counts: { [status]: 1 }, attempts, ...spent };
  return graphNode.nodeToDocument({ ...node, ancestors, deleted: isDeleted, totals, parts: 0 });
}

/** Amounts to add, by field path. */
type Amounts = Readonly<Record<string, number>>;

function amountsOf({ status, attempts, spent }: graphNode.GraphNode): Amounts {
  return {
    [`totals.counts.${status}`]: 1,
    'totals.attempts': attempts,
    'totals.input_tokens': spent.input_tokens,
    'totals.output_tokens': spent.output_tokens,
    'totals.cost_usd': spent.cost_usd,
    ...(spent.unpriced_tokens && { 'totals.unpriced_tokens': spent.unpriced_tokens }),
    'totals.milliseconds': spent.milliseconds,
  };
}

function difference(before: Amounts = {}, after: Amounts): Amounts {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries([...fields].map((field) => [field, (after[field] ?? 0) - (before[field] ?? 0)]));
}

/** Returns the fields that changed and that a tree of items displays. */
function shownDifference(before: graphNode.GraphNode, after: graphNode.GraphNode): Record<string, unknown> {
  const { status, title, deleted: isDeleted = false } = after;
  return {
    ...(before.status !== status && { status }),
    ...(before.title !== title && { title }),
    ...((before.deleted ?? false) !== isDeleted && { deleted: isDeleted }),
  };
}
