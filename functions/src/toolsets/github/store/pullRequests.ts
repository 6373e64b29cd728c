import { writeNode } from '../../../graph/store/nodes.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { pullRequestPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters, EffectsOf } from '../../../kernel/firestore/store.ts';
import {
  type LinkChanges,
  linkFromDocument,
  linkId,
  linkNode,
  linkToDocument,
  type PullRequestLink,
  type PullRequestLinkQueries,
} from '../rules/link.ts';

export class FirestorePullRequestLinkQueries extends FirestoreReader implements PullRequestLinkQueries {
  find(repositoryId: number, number: number): Promise<Versioned<PullRequestLink> | undefined> {
    return this.findById(linkId({ repository_id: repositoryId, number }));
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
    writes.createPermanent(pullRequestPath(linkId(link)), linkToDocument(link));
    writeNode(undefined, linkNode(link), writes);
  },
  replaceLink({ before, link, version }, writes) {
    writes.replaceLatest(pullRequestPath(linkId(link)), linkToDocument(link), version);
    writeNode(linkNode(before), linkNode(link), writes);
  },
};
