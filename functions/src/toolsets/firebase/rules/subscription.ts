/** A subscription: its owner, the watched path and its event log. Source: docs/decisions/0012-subscription-log.md. */

import { z } from 'zod/mini';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { DAY_MS } from '../../../kernel/ports.ts';
import { DATABASES, type DataPath, type WatchShape } from './databaseAccess.ts';
import { invalidRequest } from './dataErrors.ts';

export type Subscription = Readonly<StoredSubscription>;

/** Maximum number of subscriptions per principal. */
export const MAX_SUBSCRIPTIONS = 50;

/** Maximum children or documents of a watched path. */
export const MAX_CHILDREN = 1000;

/** Maximum size of a watched value, in bytes of JSON. */
export const MAX_VALUE_BYTES = 1_048_576;

export const MAX_CHILDREN_BYTES = 4 * 1_048_576;

/** Retention of an unread subscription. */
export const SUBSCRIPTION_TTL_MS = DAY_MS;

/** Minimum interval between extensions by reading: each is a document write. */
export const EXTENSION_INTERVAL_MS = 600_000;

/** Returns the watch shape for an event type. */
export function shapeOf(eventType: EventType): WatchShape {
  return eventType === 'value' ? 'value' : 'children';
}

/** @throws MusterError VALIDATION_ERROR if the path does not support the event type */
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
    suggestion: `It watches ${event_type} at ${path} (${database}). Use another id, or unsubscribe it first.`,
  });
}

export function tooManySubscriptions(): MusterError {
  return new MusterError('QUOTA_EXCEEDED', `You have ${MAX_SUBSCRIPTIONS} subscriptions, the maximum.`, {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'Unsubscribe unused ones, or subscribe to a common parent path.',
  });
}

/** Changes that commits can make to subscriptions. */
export interface SubscriptionChanges {
  /** `replaces` is the version of an expired subscription that is not deleted yet. */
  readonly openSubscription: {
    readonly subscription: Subscription;
    /** Owner, for the audit log. */
    readonly ownerUid: string;
    readonly replaces?: string | undefined;
  };
  /** Ended by its owner: it expires at `until`. */
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
  /** Previous data, for changes and removals. */
  readonly previousData?: JsonValue;
  /** Key of the child or id of the document; absent if the path is watched as one value. */
  readonly key?: string;
  /** When the change was observed. */
  readonly timestamp: Date;
}

/** An event in its subscription's log. */
export interface LoggedEvent {
  /** Opaque; reading after it continues with the next event. */
  readonly cursor: string;
  readonly event: DataEvent;
}

/** Method of the notification with an event. */
export const EVENT_METHOD = 'firebase.event';

/** Returns the event without the parts that exceed the response limit. @param isWithin whether it fits */
export function withinResponse(event: DataEvent, isWithin: (event: object) => boolean) {
  const shown = notificationOf(event);
  if (isWithin(shown)) return shown;
  const { previousData: _, ...rest } = shown;
  if (isWithin(rest)) return rest;
  return { ...rest, data: null, leftOut: 'The data exceeds the response limit: read it at its path.' };
}

/** Returns the notification's `params`, exactly as in "Event Notification Schema". */
export function notificationOf({ timestamp, ...event }: DataEvent) {
  return { ...event, timestamp: timestamp.toISOString() };
}

/** A reader's position in a log. Callers carry it as opaque text. */
export interface EventPosition {
  readonly log: string;
  /** The entry to read next, from 1. */
  readonly sequence: number;
  /** Index of the first unread transition of that entry. */
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
    /** The owner's own id for it. */
    subscription_id: z.string(),
    database: z.enum(DATABASES),
    path: z.string(),
    event_type: z.enum(EVENT_TYPES),
    /** Random id of the log, so that events of an earlier subscription with the same id never mix in. */
    log: z.string(),
    created_at: timestamp,
    /** Digest of the owner's permissions when the path was last verified as readable. */
    rights: z._default(z.string(), ''),
    /** Time of deletion, unless the subscription is read before. */
    expires_at: timestamp,
  }),
);

/** A stored subscription. Its id is a digest of the owner and the subscription's own id. */
export type StoredSubscription = ReturnType<typeof subscriptionCodec.fromDocument> & { readonly id: string };

export function subscriptionFromDocument(data: unknown, id: string): StoredSubscription {
  return { id, ...subscriptionCodec.fromDocument(data) };
}
