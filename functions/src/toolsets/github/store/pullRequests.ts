/** Which pull request belongs to which task. */
import { z } from 'zod';
import { placeFields } from '../../../graph/rules/node.ts';
import { writeNode } from '../../../graph/store/nodes.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { pullRequestPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import { linkId, linkNode, PULL_REQUEST_STATES } from '../rules/node.ts';
import type { LinkChanges } from '../rules/pullRequests.ts';

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
    title: z.string().default(''),
    state: z.enum(PULL_REQUEST_STATES).default('open'),
    /** When GitHub says that it came into this state. */
    state_at: timestamp.nullable().default(null),
    /** Its head commit as far as deliveries have said, and when it was that. */
    head: z.string().nullable().default(null),
    head_at: timestamp.nullable().default(null),
    /** The latest result of each check of each commit. */
    checks: z
      .array(
        z.object({
          /** Tells checks of one name apart. */
          key: z.string(),
          name: z.string(),
          commit: z.string(),
          at: timestamp,
          id: z.number(),
          passed: z.boolean(),
          url: z.string().exactOptional(),
        }),
      )
      .default([]),
    ...placeFields,
  }),
);

export type PullRequestLink = ReturnType<typeof linkFromDocument>;

export class PullRequestLinkQueries extends FirestoreReader {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined> {
    return this.findById(linkId({ repositoryId, number }));
  }

  async findById(id: string): Promise<Versioned<PullRequestLink> | undefined> {
    return this.documents.findVersioned(await this.database.doc(pullRequestPath(id)).get(), linkFromDocument);
  }
}

export const linkEffects: EffectsOf<LinkChanges> = {
  linkPullRequest: ({ link }) => ({
    kind: 'pull_request',
    id: `${link.owner}/${link.repo}#${link.number}`,
    after: linkToDocument(link),
  }),
};

export const linkWriters: ChangeWriters<LinkChanges> = {
  linkPullRequest({ link }, writes) {
    writes.createLasting(pullRequestPath(linkId(link)), linkToDocument(link));
    writeNode(undefined, linkNode(link), writes);
  },
  replaceLink({ before, link, version }, writes) {
    writes.replaceLatest(pullRequestPath(linkId(link)), linkToDocument(link), version);
    writeNode(linkNode(before), linkNode(link), writes);
  },
};
