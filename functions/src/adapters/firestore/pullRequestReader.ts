import type { Firestore } from '@google-cloud/firestore';
import type { PullRequestLink, PullRequestLinks } from '../../domain/github/link.ts';
import { pullRequestId, pullRequestPath } from './paths.ts';
import { linkFromDocument } from './pullRequestDocument.ts';

export class FirestorePullRequestLinks implements PullRequestLinks {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async find(repositoryId: number, number: number): Promise<PullRequestLink | undefined> {
    const snapshot = await this.database.doc(pullRequestPath(pullRequestId(repositoryId, number))).get();
    return snapshot.exists ? linkFromDocument(snapshot.data()) : undefined;
  }
}
