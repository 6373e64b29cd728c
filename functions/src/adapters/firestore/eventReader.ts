import type { Firestore } from '@google-cloud/firestore';
import type { TaskEvent } from '../../domain/events/event.ts';
import type { EventReader } from '../../domain/events/ports.ts';
import { eventFromDocument } from './eventDocument.ts';
import { eventPath } from './paths.ts';

export class FirestoreEventReader implements EventReader {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async find(eventId: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(eventId)).get();
    return snapshot.exists ? eventFromDocument(snapshot.data()) : undefined;
  }
}
