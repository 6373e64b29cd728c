/** Subscriptions as Firestore keeps them. */
import { z } from 'zod';
import { DATABASES } from '../../domain/data/path.ts';
import { EVENT_TYPES } from '../../domain/subscriptions/event.ts';
import type { Subscription } from '../../domain/subscriptions/subscription.ts';
import { timestamp } from './timestamp.ts';

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

export function subscriptionToDocument(subscription: Subscription): z.output<typeof subscriptionDocument> {
  return {
    uid: subscription.uid,
    subscription_id: subscription.subscriptionId,
    database: subscription.database,
    path: subscription.path,
    event_type: subscription.eventType,
    log: subscription.log,
    created_at: subscription.createdAt,
    expires_at: subscription.expiresAt,
  };
}

export function subscriptionFromDocument(id: string, data: unknown): Subscription {
  const stored = subscriptionDocument.parse(data);
  return {
    id,
    uid: stored.uid,
    subscriptionId: stored.subscription_id,
    database: stored.database,
    path: stored.path,
    eventType: stored.event_type,
    log: stored.log,
    createdAt: stored.created_at,
    expiresAt: stored.expires_at,
  };
}
