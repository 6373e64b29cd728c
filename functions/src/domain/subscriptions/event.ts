/** What a subscription tells of. Source: spec/network.md, "firebase.subscribe". */
import type { JsonValue } from '../json.ts';

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

/**
 * The event as one answer has room for it. What is left out can be read at its path.
 * @param isWithin whether it has room
 */
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
