/** A subscription: its owner, the watched path and its log. Source: docs/decisions/0012-subscription-log.md. */
import { z } from 'zod/mini';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { DAY_MS } from '../../../kernel/ports.ts';
import { DATABASES, type DataPath, type WatchShape } from './databaseAccess.ts';
import { invalidRequest } from './dataErrors.ts';

/** Per agent or person. */
export const MAX_SUBSCRIPTIONS = 50;

/** Maximum number of children or documents of a watched path. */
export const MAX_CHILDREN = 1000;

/** Maximum size of a path that is watched as a single value, in bytes of JSON. */
export const MAX_VALUE_BYTES = 1_048_576;
export const MAX_CHILDREN_BYTES = 4 * 1_048_576;

/** Time in milliseconds after which an unread subscription is deleted. */
export const SUBSCRIPTION_TTL_MS = DAY_MS;

/** Minimum time in milliseconds between two extensions of the expiry, because each extension is a write. */
export const EXTENSION_INTERVAL_MS = 600_000;

/** Returns whether this event type is watched as a single value or by children. */
export function shapeOf(eventType: EventType): WatchShape {
  return eventType === 'value' ? 'value' : 'children';
}

/** @throws MusterError VALIDATION_ERROR if the database or the path does not support the event type */
export function checkEventType(path: DataPath, eventType: EventType): void {
  if (eventType === 'value') return;
  const isDocuments = eventType.startsWith('document_');
  if (path.database === 'realtime' && isDocuments) {
    const suggestion = 'Use value, child_added, child_changed or child_removed.';
    throw invalidRequest('eventType', `The Realtime Database has no ${eventType} events.`, suggestion);
  }
  if (path.database === 'firestore' && !isDocuments) {
    const suggestion = 'Use value, document_added, document_modified or document_deleted.';
    throw invalidRequest('eventType', `Firestore has no ${eventType} events.`, suggestion);
  }
  if (path.kind === 'document') {
    const suggestion = 'Subscribe to the parent collection, or to this document with eventType value.';
    throw invalidRequest('eventType', `${eventType} requires a collection.`, suggestion);
  }
}

export function hasExpired(subscription: Subscription, now: Date): boolean {
  return subscription.expires_at <= now;
}

export function subscriptionNotFound(subscriptionId: string): MusterError {
  return new MusterError('NOT_FOUND', 'Subscription not found.', {
    field: 'subscriptionId',
    ...(subscriptionId.length <= 100 && { value: subscriptionId }),
    reason: 'NOT_FOUND',
    suggestion: 'Create one with firebase.subscribe. Subscriptions unread for 24 hours are deleted.',
  });
}

export function otherDefinition({ database, path, event_type }: Subscription): MusterError {
  return new MusterError('CONFLICT', 'A subscription with this id already exists.', {
    field: 'subscriptionId',
    reason: 'CONFLICT',
    suggestion: `The existing subscription watches ${event_type} at ${path} (${database}). Use another id, or end that subscription with firebase.unsubscribe.`,
  });
}

export function tooManySubscriptions(): MusterError {
  return new MusterError('QUOTA_EXCEEDED', `You have ${MAX_SUBSCRIPTIONS} subscriptions, the maximum.`, {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'End unused subscriptions with firebase.unsubscribe, or subscribe to a common parent path.',
  });
}

export interface SubscriptionChanges {
  /** `replaces` is the version of an expired subscription with the same id, which is overwritten. */
  readonly openSubscription: {
    readonly subscription: Subscription;
    readonly ownerUid: string;
    readonly replaces?: string | undefined;
  };
  /** Ends a subscription at its owner's request, by setting its expiry to `until`. */
  readonly endSubscription: {
    readonly before: Versioned<Subscription>;
    readonly ownerUid: string;
    readonly until: Date;
  };
  readonly extendSubscription: { readonly id: string; readonly until: Date; readonly version: string };
  readonly renewRights: { readonly id: string; readonly rights: string; readonly version: string };
  readonly closeSubscription: { readonly id: string; readonly version: string };
}

/** Event types. Source: the network specification, "firebase.subscribe". */
export const EVENT_TYPES = [
  'value',
  'child_added',
  'child_changed',
  'child_removed',
  'document_added',
  'document_modified',
  'document_deleted',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface DataEvent {
  readonly subscriptionId: string;
  readonly eventType: EventType;
  /** Current data; for a removal, the last data. */
  readonly data: JsonValue;
  readonly previousData?: JsonValue;
  /** Key of the child or id of the document; absent if the path is watched as a single value. */
  readonly key?: string;
  readonly timestamp: Date;
}

export interface LoggedEvent {
  readonly cursor: string;
  readonly event: DataEvent;
}

export const EVENT_METHOD = 'firebase.event';

/** Returns the event, without those parts that exceed the response limit. @param isWithin whether an event fits */
export function withinResponse(event: DataEvent, isWithin: (event: object) => boolean) {
  const shown = notificationOf(event);
  if (isWithin(shown)) return shown;
  const { previousData: _, ...rest } = shown;
  if (isWithin(rest)) return rest;
  return { ...rest, data: null, leftOut: 'The data exceeds the response limit: read it at its path.' };
}

/** Returns the `params` of the notification, as in "Event Notification Schema" of the network specification. */
export function notificationOf({ timestamp, ...event }: DataEvent) {
  return { ...event, timestamp: timestamp.toISOString() };
}

/** A reader's position in a log. Callers receive it as an opaque cursor. */
export interface EventPosition {
  readonly log: string;
  /** Number of the entry, from 1. */
  readonly sequence: number;
  /** Index of the entry's first transition that has not been read. */
  readonly index: number;
}

const FORMAT = /^([a-z2-7]{20})\.([1-9]\d{0,9})\.(0|[1-9]\d{0,3})$/;

export function startOf(log: string): EventPosition {
  return { log, sequence: 1, index: 0 };
}

export function cursorOf({ log, sequence, index }: EventPosition): string {
  return `${log}.${sequence}.${index}`;
}

/** @throws MusterError INVALID_FORMAT if the text is not a cursor */
export function positionAt(cursor: string): EventPosition {
  const [, log, sequence, index] = FORMAT.exec(cursor) ?? [];
  if (log === undefined) throw invalidCursor();
  return { log, sequence: Number(sequence), index: Number(index) };
}

export function invalidCursor(): MusterError {
  return new MusterError('INVALID_FORMAT', 'Invalid cursor for this subscription.', {
    field: 'cursor',
    reason: 'INVALID_CURSOR',
    suggestion: 'Send the returned cursor unchanged, or omit it to start at the oldest event.',
  });
}

export const subscriptionCodec = documentCodec(
  z.object({
    uid: z.string(),
    subscription_id: z.string(),
    database: z.enum(DATABASES),
    path: z.string(),
    event_type: z.enum(EVENT_TYPES),
    /** Random id of the log. A new subscription with the same id gets another log, so that events are never mixed. */
    log: z.string(),
    created_at: timestamp,
    /** Hash of the owner's permissions at the last check that the owner can read the path. */
    rights: z._default(z.string(), ''),
    /** Time at which the subscription is deleted, unless its owner reads it before. */
    expires_at: timestamp,
  }),
);

/** A subscription as stored. The document id is a hash of the owner and the owner's id for the subscription. */
export type Subscription = ReturnType<typeof subscriptionCodec.fromDocument> & { readonly id: string };

export function subscriptionFromDocument(data: unknown, id: string): Subscription {
  return { id, ...subscriptionCodec.fromDocument(data) };
}
