import type { Firestore } from '@google-cloud/firestore';
import type { SettledOperation } from '../../domain/idempotency/operation.ts';
import type { SettledOperations } from '../../domain/ports.ts';
import { idempotencyPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { settledFromDocument } from './sessionDocument.ts';

export class FirestoreSettledOperations implements SettledOperations {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<SettledOperation | undefined> {
    const snapshot = await this.database.doc(idempotencyPath(id)).get();
    return this.documents.find(snapshot, (data) => settledFromDocument(id, data));
  }
}
