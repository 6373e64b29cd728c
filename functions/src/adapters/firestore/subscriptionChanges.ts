import type { Firestore, WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { subscriptionPath } from './paths.ts';
import { subscriptionToDocument } from './subscriptionDocument.ts';
import { atVersion } from './timestamp.ts';

/** Adds a change of a subscription to the batch; another change adds nothing. */
export function addSubscriptionChange(database: Firestore, batch: WriteBatch, change: Change): void {
  switch (change.kind) {
    case 'openSubscription': {
      const document = database.doc(subscriptionPath(change.subscription.id));
      const data = { ...subscriptionToDocument(change.subscription) };
      if (change.replaces === undefined) batch.create(document, data);
      else batch.update(document, data, atVersion(change.replaces));
      break;
    }
    case 'keepSubscription': {
      const { id, until, version } = change;
      batch.update(database.doc(subscriptionPath(id)), { expires_at: until }, atVersion(version));
      break;
    }
    case 'closeSubscription':
      batch.delete(database.doc(subscriptionPath(change.id)), atVersion(change.version));
      break;
  }
}
