/** Which pull request belongs to which task. */
import { z } from 'zod';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { pullRequestId, pullRequestPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { LinkChanges } from '../rules/pullRequests.ts';

export const { toDocument: linkToDocument, fromDocument: linkFromDocument } = documentCodec(
  z.object({
    repository_id: z.number(),
    number: z.number(),
    owner: z.string(),
    repo: z.string(),
    task_id: z.string(),
    linked_by: z.string(),
    linked_at: timestamp,
  }),
);

export type PullRequestLink = ReturnType<typeof linkFromDocument>;

export class PullRequestLinkQueries extends FirestoreReader {
  async find(repositoryId: number, number: number): Promise<PullRequestLink | undefined> {
    const snapshot = await this.database.doc(pullRequestPath(pullRequestId(repositoryId, number))).get();
    return this.documents.find(snapshot, linkFromDocument);
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
    writes.create(pullRequestPath(pullRequestId(link.repositoryId, link.number)), linkToDocument(link));
  },
};
