/** Subscriptions as Firestore keeps them. */

import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { COLLECTIONS, subscriptionPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Fields } from '../../../kernel/trail.ts';
import { DATABASES } from '../rules/databaseAccess.ts';
import { EVENT_TYPES, type SubscriptionChanges } from '../rules/subscription.ts';

const codec = documentCodec(
  z.object({
    uid: z.string(),
    /** As its owner names it. */
    subscription_id: z.string(),
    database: z.enum(DATABASES),
    path: z.string(),
    event_type: z.enum(EVENT_TYPES),
    /** Names the log. Random, so that the events of an earlier subscription of the same id never mix in. */
    log: z.string(),
    created_at: timestamp,
    /** A digest of what its owner could do when it was last seen that they may read the path. */
    rights: z.string().default(''),
    /** It is removed then, unless it is read before. */
    expires_at: timestamp,
  }),
);

/** Its id is a digest of the owner and the subscription's own id. */
export type StoredSubscription = ReturnType<typeof codec.fromDocument> & { readonly id: string };

export function subscriptionFromDocument(data: unknown, id: string): StoredSubscription {
  return { id, ...codec.fromDocument(data) };
}

/** Every list is bounded and ordered. */
export class SubscriptionQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<StoredSubscription> | undefined> {
    const snapshot = await this.database.doc(subscriptionPath(id)).get();
    return this.documents.findVersioned(snapshot, subscriptionFromDocument);
  }

  /** How many a principal has, the expired ones included that are still to be swept. */
  async count(uid: string): Promise<number> {
    const own = this.database.collection(COLLECTIONS.subscriptions).where('uid', '==', uid);
    return (await own.count().get()).data().count;
  }

  /** Those that expired by `now`, longest ago first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<StoredSubscription>[]> {
    const expired = this.database
      .collection(COLLECTIONS.subscriptions)
      .where('expires_at', '<=', now)
      .orderBy('expires_at');
    return this.documents.firstVersioned(expired, limit, subscriptionFromDocument);
  }
}

/** By its owner's name for it. Its log and its rights are nothing that anybody has said. */
function toldOf({ uid, subscriptionId, database, path, eventType }: StoredSubscription): Fields {
  return { uid, subscription_id: subscriptionId, database, path, event_type: eventType };
}

export const subscriptionEffects: EffectsOf<SubscriptionChanges> = {
  openSubscription: ({ subscription, ownerUid }) => ({
    kind: 'subscription',
    id: subscription.subscriptionId,
    ownerUid,
    after: toldOf(subscription),
  }),
  endSubscription: ({ before: { value }, ownerUid }) => ({
    kind: 'subscription',
    id: value.subscriptionId,
    ownerUid,
    before: toldOf(value),
  }),
};

export const subscriptionWriters: ChangeWriters<SubscriptionChanges> = {
  openSubscription({ subscription, replaces }, writes) {
    writes.createOrReplace(subscriptionPath(subscription.id), codec.toDocument(subscription), replaces);
  },
  endSubscription({ before: { value, version }, until }, writes) {
    writes.replace(subscriptionPath(value.id), { expires_at: until }, version);
  },
  keepSubscription({ id, until, version }, writes) {
    writes.replace(subscriptionPath(id), { expires_at: until }, version);
  },
  renewRights({ id, rights, version }, writes) {
    writes.replace(subscriptionPath(id), { rights }, version);
  },
  closeSubscription({ id, version }, writes) {
    writes.deleteAt(subscriptionPath(id), version);
  },
};
