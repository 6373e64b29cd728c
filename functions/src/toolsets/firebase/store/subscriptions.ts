import type { Versioned } from '../../../kernel/commit.ts';
import type { Fields } from '../../../kernel/documentCodec.ts';
import { COLLECTIONS, subscriptionPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters, EffectsOf } from '../../../kernel/firestore/store.ts';
import type { SubscriptionQueries } from '../rules/ports.ts';
import {
  type Subscription,
  type SubscriptionChanges,
  subscriptionCodec,
  subscriptionFromDocument,
} from '../rules/subscription.ts';

export class FirestoreSubscriptionQueries extends FirestoreReader implements SubscriptionQueries {
  async find(id: string): Promise<Versioned<Subscription> | undefined> {
    const snapshot = await this.database.doc(subscriptionPath(id)).get();
    return this.documents.findVersioned(snapshot, subscriptionFromDocument);
  }

  async count(uid: string): Promise<number> {
    const own = this.database.collection(COLLECTIONS.subscriptions).where('uid', '==', uid);
    return (await own.count().get()).data().count;
  }

  expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]> {
    const expired = this.database
      .collection(COLLECTIONS.subscriptions)
      .where('expires_at', '<=', now)
      .orderBy('expires_at');
    return this.documents.firstVersioned(expired, limit, subscriptionFromDocument);
  }
}

/** Returns the fields for the audit log, without the id of the event log and the hash of the rights. */
function auditFieldsOf({ uid, subscription_id, database, path, event_type }: Subscription): Fields {
  return { uid, subscription_id, database, path, event_type };
}

export const subscriptionEffects: EffectsOf<SubscriptionChanges> = {
  openSubscription: ({ subscription, ownerUid }) => ({
    kind: 'subscription',
    id: subscription.subscription_id,
    owner_uid: ownerUid,
    after: auditFieldsOf(subscription),
  }),
  endSubscription: ({ before: { value }, ownerUid }) => ({
    kind: 'subscription',
    id: value.subscription_id,
    owner_uid: ownerUid,
    before: auditFieldsOf(value),
  }),
};

export const subscriptionWriters: ChangeWriters<SubscriptionChanges> = {
  openSubscription({ subscription, replaces }, writes) {
    writes.createOrReplace(subscriptionPath(subscription.id), subscriptionCodec.toDocument(subscription), replaces);
  },
  endSubscription({ before: { value, version }, until }, writes) {
    writes.replace(subscriptionPath(value.id), { expires_at: until }, version);
  },
  extendSubscription({ id, until, version }, writes) {
    writes.replace(subscriptionPath(id), { expires_at: until }, version);
  },
  renewRights({ id, rights, version }, writes) {
    writes.replace(subscriptionPath(id), { rights }, version);
  },
  closeSubscription({ id, version }, writes) {
    writes.deleteAt(subscriptionPath(id), version);
  },
};
