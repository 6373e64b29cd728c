import type { Firestore } from '@google-cloud/firestore';
import type { SettledOperation } from '../../domain/idempotency/operation.ts';
import type { SettledOperations } from '../../domain/ports.ts';
import { idempotencyPath } from './paths.ts';
import { settledFromDocument } from './sessionDocument.ts';

export class FirestoreSettledOperations implements SettledOperations {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async find(id: string): Promise<SettledOperation | undefined> {
    const snapshot = await this.database.doc(idempotencyPath(id)).get();
    return snapshot.exists ? settledFromDocument(id, snapshot.data()) : undefined;
  }
}
