import type { Firestore } from '@google-cloud/firestore';
import type { Page, Slice } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import type { RecurringTaskReader } from '../../domain/todos/readers.ts';
import type { RecurringTask } from '../../domain/todos/recurringTask.ts';
import { COLLECTIONS, recurringTaskPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { recurringTaskFromDocument } from './recurringTaskDocument.ts';

export class FirestoreRecurringTaskReader implements RecurringTaskReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<Versioned<RecurringTask> | undefined> {
    const snapshot = await this.database.doc(recurringTaskPath(id)).get();
    return this.documents.findVersioned(snapshot, recurringTaskFromDocument);
  }

  async list(
    ownerUid: string,
    withEnded: boolean,
    page: Page,
  ): Promise<Slice<RecurringTask> & { readonly total: number }> {
    const matching = this.database
      .collection(COLLECTIONS.recurringTasks)
      .where('owner_uid', '==', ownerUid)
      .where('ended', 'in', withEnded ? [false, true] : [false]);
    const [counted, slice] = await Promise.all([
      matching.orderBy('created_at', 'desc').count().get(),
      this.documents.slice(matching, 'created_at', 'desc', page, recurringTaskFromDocument),
    ]);
    return { ...slice, total: counted.data().count };
  }
}
