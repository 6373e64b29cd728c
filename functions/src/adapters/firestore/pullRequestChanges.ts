import type { LinkChanges } from '../../domain/github/link.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { pullRequestId, pullRequestPath } from './paths.ts';
import { linkToDocument } from './pullRequestDocument.ts';

export const linkWriters: ChangeWriters<LinkChanges> = {
  linkPullRequest({ link }, writes) {
    writes.create(pullRequestPath(pullRequestId(link.repositoryId, link.number)), linkToDocument(link));
  },
};
