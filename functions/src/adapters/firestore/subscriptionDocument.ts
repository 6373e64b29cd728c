/** Subscriptions as Firestore keeps them. */
import { z } from 'zod';
import { DATABASES } from '../../domain/data/path.ts';
import { EVENT_TYPES } from '../../domain/subscriptions/event.ts';
import type { Subscription } from '../../domain/subscriptions/subscription.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
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

const codec: DocumentCodec<Omit<Subscription, 'id'>> = documentCodec(subscriptionDocument);

export const subscriptionToDocument = codec.toDocument;

export function subscriptionFromDocument(id: string, data: unknown): Subscription {
  return { id, ...codec.fromDocument(data) };
}
