import type { Firestore } from '@google-cloud/firestore';
import type { TaskEvent } from '../../domain/events/event.ts';
import type { Page, Slice } from '../../domain/readers.ts';
import type { TaskHistory } from '../../domain/todos/readers.ts';
import { eventFromDocument } from './eventDocument.ts';
import { COLLECTIONS, eventPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';

export class FirestoreTaskHistory implements TaskHistory {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(id)).get();
    return this.documents.find(snapshot, eventFromDocument);
  }

  history(ownerUid: string, taskId: string, page: Page): Promise<Slice<TaskEvent>> {
    const happened = this.database
      .collection(COLLECTIONS.events)
      .where('user_id', '==', ownerUid)
      .where('task_id', '==', taskId);
    return this.documents.slice(happened, 'timestamp', 'desc', page, eventFromDocument);
  }
}
