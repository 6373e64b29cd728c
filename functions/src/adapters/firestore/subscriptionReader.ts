import type { Firestore } from '@google-cloud/firestore';
import type { SubscriptionReader } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import type { Subscription } from '../../domain/subscriptions/subscription.ts';
import { COLLECTIONS, subscriptionPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { subscriptionFromDocument } from './subscriptionDocument.ts';

export class FirestoreSubscriptionReader implements SubscriptionReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<Versioned<Subscription> | undefined> {
    const snapshot = await this.database.doc(subscriptionPath(id)).get();
    return this.documents.findVersioned(snapshot, fromDocument);
  }

  async count(uid: string): Promise<number> {
    const own = this.database.collection(COLLECTIONS.subscriptions).where('uid', '==', uid);
    return (await own.count().get()).data().count;
  }

  async expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]> {
    const expired = this.database
      .collection(COLLECTIONS.subscriptions)
      .where('expires_at', '<=', now)
      .orderBy('expires_at');
    return this.documents.firstVersioned(expired, limit, fromDocument);
  }
}

function fromDocument(data: unknown, id: string): Subscription {
  return subscriptionFromDocument(id, data);
}
