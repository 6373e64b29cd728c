/**
 * The stored link from a pull request to its task, or to another item that the pull request is part of, and the pull
 * request's node in the graph of items. Source: docs/decisions/0035-graph-and-budgets.md.
 */
import { z } from 'zod/mini';
import { type GraphNode, NO_USAGE, type NodeStatus, parentFields, titleOf } from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { readUnreadable } from '../../../kernel/ports.ts';

export const { toDocument: linkToDocument, fromDocument: linkFromDocument } = documentCodec(
  z.object({
    repository_id: z.number(),
    number: z.number(),
    owner: z.string(),
    repo: z.string(),
    /** Id of the task that the merge completes; empty if the pull request is part of another item. */
    task_id: z.string(),
    linked_by: z.string(),
    linked_at: timestamp,
    workspace: z.string(),
    title: z._default(z.string(), ''),
    /** A merged pull request stays merged. */
    state: z._default(z.enum(['open', 'merged', 'closed']), 'open'),
    /** Time at which the pull request got this state, according to GitHub. */
    state_at: z._default(z.nullable(timestamp), null),
    /** Latest known head commit, with the time at which GitHub reported it. */
    head: z._default(z.nullable(z.string()), null),
    head_at: z._default(z.nullable(timestamp), null),
    checks: z._default(
      z.array(
        z.object({
          key: z.string(),
          name: z.string(),
          commit: z.string(),
          at: timestamp,
          id: z.number(),
          passed: z.boolean(),
          url: z.exactOptional(z.string()),
        }),
      ),
      [],
    ),
    ...parentFields,
  }),
);

export type PullRequestLink = ReturnType<typeof linkFromDocument>;
export type PullRequestState = PullRequestLink['state'];

export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
  readonly replaceLink: { readonly before: PullRequestLink; readonly link: PullRequestLink; readonly version: string };
}

export interface PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined>;
  findById(id: string): Promise<Versioned<PullRequestLink> | undefined>;
}

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
