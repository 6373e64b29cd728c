/** The stored link from a pull request to its task, or to another item that the pull request is part of. */
import { z } from 'zod/mini';
import { parentFields } from '../../../graph/rules/graphNode.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';

/** States of a pull request. A merged pull request stays merged. */
export const PULL_REQUEST_STATES = ['open', 'merged', 'closed'] as const;

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
    state: z._default(z.enum(PULL_REQUEST_STATES), 'open'),
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

export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
  readonly replaceLink: { readonly before: PullRequestLink; readonly link: PullRequestLink; readonly version: string };
}
