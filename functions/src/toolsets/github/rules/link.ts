/** A pull request that is linked to a task, or is part of something else, as it is stored. */

import { z } from 'zod/mini';
import { placeFields } from '../../../graph/rules/graphNode.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';

/** A merged one stays merged. */
export const PULL_REQUEST_STATES = ['open', 'merged', 'closed'] as const;

export const { toDocument: linkToDocument, fromDocument: linkFromDocument } = documentCodec(
  z.object({
    repository_id: z.number(),
    number: z.number(),
    owner: z.string(),
    repo: z.string(),
    /** The task that is done when it is merged; empty where it is part of something else. */
    task_id: z.string(),
    linked_by: z.string(),
    linked_at: timestamp,
    /** From which it was linked. */
    workspace: z.string(),
    title: z._default(z.string(), ''),
    state: z._default(z.enum(PULL_REQUEST_STATES), 'open'),
    /** When GitHub says that it came into this state. */
    state_at: z._default(z.nullable(timestamp), null),
    /** Its head commit as far as deliveries have said, and when it was that. */
    head: z._default(z.nullable(z.string()), null),
    head_at: z._default(z.nullable(timestamp), null),
    /** The latest result of each check of each commit. */
    checks: z._default(
      z.array(
        z.object({
          /** Tells checks of one name apart. */
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
    ...placeFields,
  }),
);

export type PullRequestLink = ReturnType<typeof linkFromDocument>;

export interface LinkChanges {
  readonly linkPullRequest: { readonly link: PullRequestLink };
  readonly replaceLink: {
    readonly before: PullRequestLink;
    readonly link: PullRequestLink;
    readonly version: string;
  };
}
