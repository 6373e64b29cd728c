import type { Firestore, WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { pullRequestId, pullRequestPath, taskLogPath } from './paths.ts';
import { linkToDocument } from './pullRequestDocument.ts';

/** Adds what a pull request brings to the batch; another change adds nothing. */
export function addPullRequestChange(database: Firestore, batch: WriteBatch, change: Change): void {
  switch (change.kind) {
    case 'linkPullRequest': {
      const { repositoryId, number } = change.link;
      batch.create(
        database.doc(pullRequestPath(pullRequestId(repositoryId, number))),
        linkToDocument(change.link),
      );
      break;
    }
    case 'logTask': {
      const { id, kind, at, details } = change.entry;
      batch.set(database.doc(taskLogPath(change.taskId, id)), { kind, at, ...details });
      break;
    }
  }
}
