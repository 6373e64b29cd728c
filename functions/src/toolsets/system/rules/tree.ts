/** An item and its parts, as visible to the caller. Source: docs/semantics.md#one-graph. */
import {
  type GraphNode,
  type NodeRef,
  nodeKey,
  nodeNotFound,
  type StoredNode,
} from '../../../graph/rules/graphNode.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import type { PageRequest } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { visibilityOf } from '../../orchestration/index.ts';

/** `all`: everything. `course`: the progress but no texts, as leaders see another member's run. */
export type NodeVisibility = 'all' | 'course';

/** A node of a tree. If `visibility` is undefined, the caller may see only the kind of the item. */
export interface VisibleNode {
  readonly visibility?: NodeVisibility | undefined;
  readonly node: StoredNode;
}

export class Trees extends Service<GraphPorts> {
  /** Returns an item, its ancestors and a page of its parts. @throws MusterError NOT_FOUND, also for hidden items */
  async tree(
    principal: Principal,
    { workspace, page, ...ref }: NodeRef & { readonly workspace: string; readonly page: PageRequest },
  ) {
    const { graph, nodes } = this.ports;
    const key = nodeKey(ref);
    const [stored] = await graph.findAll([key]);
    if (stored === undefined) {
      const found = await nodes[ref.kind](ref.id, { principal, workspace });
      if (found === undefined) throw nodeNotFound(ref, 'id');
      const node = withoutParents(found.value);
      return {
        root: { node, visibility: visibilityOfNode(principal, node) },
        path: [],
        below: { items: [], more: false },
      };
    }
    const visibility = visibilityOfNode(principal, stored);
    if (visibility === undefined) throw nodeNotFound(ref, 'id');
    const [above, below] = await Promise.all([graph.findAll(stored.ancestors), graph.descendants(key, page)]);
    const seen = (node: StoredNode): VisibleNode => ({ node, visibility: visibilityOfNode(principal, node) });
    return {
      root: { node: stored, visibility },
      path: above.flatMap((node) => (node === undefined ? [] : [seen(node)])),
      below: { items: below.items.map(seen), more: below.more },
    };
  }
}

/** Returns how much of a node the caller may see, in any workspace. */
function visibilityOfNode(principal: Principal, node: StoredNode): NodeVisibility | undefined {
  const { kind, owner_uid, workspace } = node;
  if (kind === 'todo') return owner_uid === principal.owner_uid ? 'all' : undefined;
  if (workspace === undefined) return undefined;
  if (kind === 'run') return owner_uid === undefined ? undefined : visibilityOf(principal, { owner_uid, workspace });
  return roleIn(principal, workspace) && 'all';
}

/** Returns a node for an item without a stored node. Such an item has no parts, so its totals are its own usage. */
function withoutParents({ attempts, spent, workspace, owner_uid, ...rest }: GraphNode): StoredNode {
  return {
    ...rest,
    ...(workspace !== undefined && { workspace }),
    ...(owner_uid !== undefined && { owner_uid }),
    ancestors: [],
    deleted: false,
    totals: { counts: { [rest.status]: 1 }, attempts, ...spent },
    parts: 0,
  };
}
