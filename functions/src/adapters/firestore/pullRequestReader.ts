import type { Firestore } from '@google-cloud/firestore';
import type { PullRequestLink, PullRequestLinks } from '../../domain/github/link.ts';
import { pullRequestId, pullRequestPath } from './paths.ts';
import { linkFromDocument } from './pullRequestDocument.ts';
import type { DocumentReading } from './reading.ts';

export class FirestorePullRequestLinks implements PullRequestLinks {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(repositoryId: number, number: number): Promise<PullRequestLink | undefined> {
    const snapshot = await this.database.doc(pullRequestPath(pullRequestId(repositoryId, number))).get();
    return this.documents.find(snapshot, linkFromDocument);
  }
}
