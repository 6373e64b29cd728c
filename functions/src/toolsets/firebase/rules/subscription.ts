/** A subscription: who watches what, and where its events are logged. Source: docs/decisions/0012-subscription-log.md. */

import { z } from 'zod/mini';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { DATABASES, type DataPath, type WatchShape } from './databaseAccess.ts';
import { invalidRequest } from './dataErrors.ts';

export type Subscription = Readonly<StoredSubscription>;

/** What may be subscribed to at once by one principal. */
export const MAX_SUBSCRIPTIONS = 50;

/** Children or documents of a watched path. */
export const MAX_CHILDREN = 1000;

/** All that is watched, in bytes of JSON. */
export const MAX_VALUE_BYTES = 1_048_576;

export const MAX_CHILDREN_BYTES = 4 * 1_048_576;

/** How long a subscription outlives its last reader. */
export const KEPT_MILLISECONDS = 24 * 3_600_000;

/** Reading moves the expiry at most this often: it is a write of the document. */
export const EXTENDED_EVERY_MILLISECONDS = 600_000;

/** How a path is watched for events of a type. */
export function shapeOf(eventType: EventType): WatchShape {
  return eventType === 'value' ? 'value' : 'children';
}

/** @throws MusterError VALIDATION_ERROR where such events do not exist at such a path */
export function checkEventType(path: DataPath, eventType: EventType): void {
  if (eventType === 'value') return;
  const isDocuments = eventType.startsWith('document_');
  if (path.database === 'realtime' && isDocuments) {
    const suggestion = 'Use value, child_added, child_changed or child_removed.';
    throw invalidRequest('eventType', 'The Realtime Database has children, not documents.', suggestion);
  }
  if (path.database === 'firestore' && !isDocuments) {
    const suggestion = 'Use value, document_added, document_modified or document_deleted.';
    throw invalidRequest('eventType', 'Firestore has documents, not children.', suggestion);
  }
  if (path.kind === 'document') {
    const suggestion = 'Subscribe to the collection above it, or to this document with eventType value.';
    throw invalidRequest('eventType', `${eventType} is an event of a collection.`, suggestion);
  }
}

export function hasExpired(subscription: Subscription, now: Date): boolean {
  return subscription.expires_at <= now;
}

export function subscriptionNotFound(subscriptionId: string): MusterError {
  return new MusterError('NOT_FOUND', 'You have no such subscription.', {
    field: 'subscriptionId',
    ...(subscriptionId.length <= 100 && { value: subscriptionId }),
    reason: 'NOT_FOUND',
    suggestion: 'firebase.subscribe begins one. One that nobody reads is forgotten after 24 hours.',
  });
}

export function otherDefinition({ database, path, event_type }: Subscription): MusterError {
  return new MusterError('CONFLICT', 'You have another subscription of this id.', {
    field: 'subscriptionId',
    reason: 'CONFLICT',
    suggestion: `It is for ${event_type} at ${path} (${database}). Use another id, or unsubscribe it first.`,
  });
}

export function tooManySubscriptions(): MusterError {
  return new MusterError('QUOTA_EXCEEDED', `You have ${MAX_SUBSCRIPTIONS} subscriptions already.`, {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'Unsubscribe what you no longer read, or subscribe to the path above several of them.',
  });
}

/** What commits may change of subscriptions. */
export interface SubscriptionChanges {
  /** `replaces` is the version of one that has expired and not been swept yet. */
  readonly openSubscription: {
    readonly subscription: Subscription;
    /** On whose behalf, for the trail. */
    readonly ownerUid: string;
    readonly replaces?: string | undefined;
  };
  /** Whoever has it ends it: it has expired at `until`. */
  readonly endSubscription: {
    readonly before: Versioned<Subscription>;
    readonly ownerUid: string;
    readonly until: Date;
  };
  readonly keepSubscription: { readonly id: string; readonly until: Date; readonly version: string };
  readonly renewRights: { readonly id: string; readonly rights: string; readonly version: string };
  readonly closeSubscription: { readonly id: string; readonly version: string };
}

/** What a subscription tells of. Source: the network specification, "firebase.subscribe". */
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
  /** How it is now; of what was removed, how it was last. */
  readonly data: JsonValue;
  /** How it was before, for changes and removals. */
  readonly previousData?: JsonValue;
  /** The child or the document; absent where the path is watched as one value. */
  readonly key?: string;
  /** When the change was noticed. */
  readonly timestamp: Date;
}

/** An event in its subscription's log. */
export interface LoggedEvent {
  /** Opaque; reading after it goes on with the next event. */
  readonly cursor: string;
  readonly event: DataEvent;
}

/** The method of the notification that carries an event. */
export const EVENT_METHOD = 'firebase.event';

/** The event as one answer has room for it; the rest can be read at its path. @param isWithin whether it has room */
export function withinAnswer(event: DataEvent, isWithin: (event: object) => boolean) {
  const shown = notificationOf(event);
  if (isWithin(shown)) return shown;
  const { previousData: _, ...rest } = shown;
  if (isWithin(rest)) return rest;
  return { ...rest, data: null, leftOut: 'The data is larger than an answer may be: read it at its path.' };
}

/** The notification's `params`, exactly as "Event Notification Schema" has them. */
export function notificationOf({ timestamp, ...event }: DataEvent) {
  return { ...event, timestamp: timestamp.toISOString() };
}

/** Where a reader of a log goes on. Callers carry it as text that means nothing to them. */
export interface Position {
  readonly log: string;
  /** The entry to read next, from 1. */
  readonly sequence: number;
  /** The first transition of that entry to look at. */
  readonly index: number;
}

const FORMAT = /^([a-z2-7]{20})\.([1-9]\d{0,9})\.(0|[1-9]\d{0,3})$/;

export function beginningOf(log: string): Position {
  return { log, sequence: 1, index: 0 };
}

export function cursorOf({ log, sequence, index }: Position): string {
  return `${log}.${sequence}.${index}`;
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours */
export function positionAt(cursor: string): Position {
  const [, log, sequence, index] = FORMAT.exec(cursor) ?? [];
  if (log === undefined) throw invalidCursor();
  return { log, sequence: Number(sequence), index: Number(index) };
}

export function invalidCursor(): MusterError {
  return new MusterError('INVALID_FORMAT', 'This is no cursor of this subscription.', {
    field: 'cursor',
    reason: 'INVALID_CURSOR',
    suggestion:
      'Give back the cursor of an earlier answer as it was, or none to begin with the oldest event.',
  });
}

export const subscriptionCodec = documentCodec(
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
    rights: z._default(z.string(), ''),
    /** It is removed then, unless it is read before. */
    expires_at: timestamp,
  }),
);

/** Its id is a digest of the owner and the subscription's own id. */
export type StoredSubscription = ReturnType<typeof subscriptionCodec.fromDocument> & { readonly id: string };

export function subscriptionFromDocument(data: unknown, id: string): StoredSubscription {
  return { id, ...subscriptionCodec.fromDocument(data) };
}
