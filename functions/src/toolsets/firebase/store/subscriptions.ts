/** Subscriptions as Firestore keeps them. */

import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { COLLECTIONS, subscriptionPath } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import { DATABASES } from '../rules/databaseAccess.ts';
import { EVENT_TYPES, type Subscription, type SubscriptionChanges } from '../rules/subscription.ts';

const subscriptionDocument = z.object({
  uid: z.string(),
  subscription_id: z.string(),
  database: z.enum(DATABASES),
  path: z.string(),
  event_type: z.enum(EVENT_TYPES),
  log: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
});

const codec: DocumentCodec<Omit<Subscription, 'id'>> = documentCodec(subscriptionDocument);

const subscriptionToDocument = codec.toDocument;

export function subscriptionFromDocument(id: string, data: unknown): Subscription {
  return { id, ...codec.fromDocument(data) };
}

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

export const subscriptionWriters: ChangeWriters<SubscriptionChanges> = {
  openSubscription({ subscription, replaces }, writes) {
    const document = subscriptionToDocument(subscription);
    writes.createOrReplace(subscriptionPath(subscription.id), document, replaces);
  },
  keepSubscription({ id, until, version }, writes) {
    writes.replace(subscriptionPath(id), { expires_at: until }, version);
  },
  closeSubscription({ id, version }, writes) {
    writes.deleteAt(subscriptionPath(id), version);
  },
};

/** Every list is bounded and ordered. */
export interface SubscriptionReader {
  find(id: string): Promise<Versioned<Subscription> | undefined>;
  /** How many a principal has, the expired ones included that are still to be swept. */
  count(uid: string): Promise<number>;
  /** Those that expired by `now`, longest ago first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]>;
}
