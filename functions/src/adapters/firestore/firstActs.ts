import { FieldPath, type Firestore } from '@google-cloud/firestore';
import type { FirstActs } from '../../domain/onboarding/service.ts';
import { COLLECTIONS } from './paths.ts';
import { discoveryFromDocument } from './sessionDocument.ts';
import { taskFromDocument } from './taskDocument.ts';

export class FirestoreFirstActs implements FirstActs {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async discovery(agentId: string): Promise<Date | undefined> {
    const { docs } = await this.database
      .collection(COLLECTIONS.discoveries)
      .where('agent_id', '==', agentId)
      .orderBy('created_at')
      .limit(1)
      .get();
    return docs[0] && discoveryFromDocument(docs[0].data()).createdAt;
  }

  /** A task's id begins with the time of its creation. */
  async createdTask(agentId: string): Promise<Date | undefined> {
    const { docs } = await this.database
      .collection(COLLECTIONS.tasks)
      .where('created_by', '==', agentId)
      .orderBy(FieldPath.documentId())
      .limit(1)
      .get();
    return docs[0] && taskFromDocument(docs[0].data()).createdAt;
  }
}
