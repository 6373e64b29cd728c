/** A thing with all that is part of it, as somebody may see it. Source: docs/semantics.md#one-graph. */
import {
  type GraphNode,
  type NodeRef,
  nodeKey,
  nodeNotFound,
  type StoredNode,
} from '../../../graph/rules/graphNode.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { Page } from '../../../kernel/paging.ts';
import { Service } from '../../../kernel/ports.ts';
import { sightOf } from '../../orchestration/index.ts';

/** How much of something somebody sees: of a run that is another's, its leaders see the course and not the words. */
export type NodeSight = 'all' | 'course';

/** Something in a tree; without its sight, of which the viewer learns no more than its kind. */
export interface SeenNode {
  readonly sight?: NodeSight | undefined;
  readonly node: StoredNode;
}

interface TreeRequest extends NodeRef {
  readonly workspace: string;
  readonly page: Page;
}

export class Trees extends Service<GraphPorts> {
  /** Reads what it returns, the way up, and two more at most. @throws MusterError NOT_FOUND, also where it may not be seen */
  async tree(principal: Principal, { workspace, page, ...ref }: TreeRequest) {
    const { graph, nodes } = this.ports;
    const key = nodeKey(ref);
    const [stored] = await graph.findAll([key]);
    if (stored === undefined) {
      const found = await nodes[ref.kind](ref.id, { principal, workspace });
      if (found === undefined) throw nodeNotFound(ref, 'id');
      const node = alone(found.value);
      return {
        root: { node, sight: sightOfNode(principal, node) },
        path: [],
        below: { items: [], more: false },
      };
    }
    const sight = sightOfNode(principal, stored);
    if (sight === undefined) throw nodeNotFound(ref, 'id');
    const [above, below] = await Promise.all([graph.findAll(stored.ancestors), graph.below(key, page)]);
    const seen = (node: StoredNode): SeenNode => ({ node, sight: sightOfNode(principal, node) });
    return {
      root: { node: stored, sight },
      path: above.flatMap((node) => (node === undefined ? [] : [seen(node)])),
      below: { items: below.items.map(seen), more: below.more },
    };
  }
}

/** Whether the caller may see it, wherever the call is made from. */
function sightOfNode(principal: Principal, node: StoredNode): NodeSight | undefined {
  const { kind, owner_uid, workspace } = node;
  if (kind === 'todo') return owner_uid === principal.owner_uid ? 'all' : undefined;
  if (workspace === undefined) return undefined;
  if (kind === 'run')
    return owner_uid === undefined ? undefined : sightOf(principal, { owner_uid, workspace });
  const role = roleIn(principal, workspace);
  return role !== undefined && hasRole(role, 'viewer') ? 'all' : undefined;
}

/** A thing that is in no graph: its totals are its own. */
function alone({ attempts, spent, ...node }: GraphNode): StoredNode {
  const totals = { counts: { [node.status]: 1 }, attempts, ...spent };
  const { workspace, owner_uid, ...rest } = node;
  return {
    ...rest,
    ...(workspace !== undefined && { workspace }),
    ...(owner_uid !== undefined && { owner_uid }),
    ancestors: [],
    deleted: false,
    totals,
    parts: 0,
  };
}
