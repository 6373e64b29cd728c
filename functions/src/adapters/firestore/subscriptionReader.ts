import type { DocumentSnapshot, Firestore } from '@google-cloud/firestore';
import type { SubscriptionReader } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import type { Subscription } from '../../domain/subscriptions/subscription.ts';
import { COLLECTIONS, subscriptionPath } from './paths.ts';
import { subscriptionFromDocument } from './subscriptionDocument.ts';
import { versioned } from './timestamp.ts';

export class FirestoreSubscriptionReader implements SubscriptionReader {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async find(id: string): Promise<Versioned<Subscription> | undefined> {
    return readSubscription(await this.database.doc(subscriptionPath(id)).get());
  }

  async count(uid: string): Promise<number> {
    const own = this.database.collection(COLLECTIONS.subscriptions).where('uid', '==', uid);
    return (await own.count().get()).data().count;
  }

  async expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]> {
    const found = await this.database
      .collection(COLLECTIONS.subscriptions)
      .where('expires_at', '<=', now)
      .orderBy('expires_at')
      .limit(limit)
      .get();
    return found.docs.flatMap((snapshot) => readSubscription(snapshot) ?? []);
  }
}

function readSubscription(snapshot: DocumentSnapshot): Versioned<Subscription> | undefined {
  if (snapshot.updateTime === undefined) return undefined;
  return versioned(subscriptionFromDocument(snapshot.id, snapshot.data()), snapshot.updateTime);
}
