/** Pull requests in the graph of items and their parts. Source: docs/decisions/0035-graph-and-budgets.md. */
import { type GraphNode, NO_USAGE, type NodeStatus, titleOf } from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import { readUnreadable } from '../../../kernel/ports.ts';
import type { PULL_REQUEST_STATES, PullRequestLink } from './link.ts';
import type { PullRequestLinkQueries } from './ports.ts';

export type PullRequestState = (typeof PULL_REQUEST_STATES)[number];

const STATUSES: Readonly<Record<PullRequestState, NodeStatus>> = {
  open: 'in_progress',
  merged: 'done',
  closed: 'cancelled',
};

/** Returns the document id of a link. It contains the repository's id, because the repository's name can change. */
export function linkId({ repository_id, number }: Pick<PullRequestLink, 'repository_id' | 'number'>): string {
  return `${repository_id}-${number}`;
}

export function linkNode(link: PullRequestLink): GraphNode {
  const { owner, repo, number, title, workspace, state, linked_at } = link;
  return {
    kind: 'pull_request',
    thing_id: linkId(link),
    title: titleOf(`${owner}/${repo}#${number} ${title}`),
    workspace,
    status: STATUSES[state],
    attempts: 0,
    spent: NO_USAGE,
    created_at: linked_at,
    ...(link.part_of && { part_of: link.part_of }),
    ...(link.ancestors && { ancestors: link.ancestors }),
  };
}

/** Finds pull requests that were linked in the current workspace. */
export function linkNodeFinder(links: PullRequestLinkQueries): NodeFinder {
  return async (id, { workspace }) => {
    const found = await readUnreadable((one) => one === workspace, links.findById(id));
    if (found?.value.workspace !== workspace) return undefined;
    return { value: linkNode(found.value), version: found.version };
  };
}
