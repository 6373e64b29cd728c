import type { SubscriptionChanges } from '../../domain/subscriptions/subscription.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { subscriptionPath } from './paths.ts';
import { subscriptionToDocument } from './subscriptionDocument.ts';

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
