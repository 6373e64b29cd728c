import type { Firestore } from '@google-cloud/firestore';
import type { TaskEvent } from '../../domain/events/event.ts';
import type { EventReader } from '../../domain/events/ports.ts';
import { eventFromDocument } from './eventDocument.ts';
import { eventPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';

export class FirestoreEventReader implements EventReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(eventId: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(eventId)).get();
    return this.documents.find(snapshot, eventFromDocument);
  }
}
