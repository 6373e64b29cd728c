import { FieldPath, type Firestore } from '@google-cloud/firestore';
import type { FirstActs } from '../../domain/onboarding/ports.ts';
import { COLLECTIONS } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { discoveryFromDocument } from './sessionDocument.ts';
import { taskFromDocument } from './taskDocument.ts';

export class FirestoreFirstActs implements FirstActs {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async discovery(agentId: string): Promise<Date | undefined> {
    const own = this.database
      .collection(COLLECTIONS.discoveries)
      .where('agent_id', '==', agentId)
      .orderBy('created_at');
    return (await this.documents.firstVersioned(own, 1, discoveryFromDocument))[0]?.value.createdAt;
  }

  /** A task's id begins with the time of its creation. */
  async createdTask(agentId: string): Promise<Date | undefined> {
    const own = this.database
      .collection(COLLECTIONS.tasks)
      .where('created_by', '==', agentId)
      .orderBy(FieldPath.documentId());
    return (await this.documents.firstVersioned(own, 1, taskFromDocument))[0]?.value.createdAt;
  }
}
