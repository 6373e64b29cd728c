/** Events as Firestore keeps them: as they travel, but for the time. */
import { z } from 'zod';
import { eventMessage, eventOf, messageOf, type TaskEvent } from '../../domain/events/event.ts';
import { timestamp } from './timestamp.ts';

const eventDocument = z.object({ ...eventMessage.shape, timestamp });

export function eventToDocument(event: TaskEvent): z.output<typeof eventDocument> {
  return { ...messageOf(event), timestamp: event.timestamp };
}

export function eventFromDocument(data: unknown): TaskEvent {
  const stored = eventDocument.parse(data);
  return eventOf({ ...stored, timestamp: stored.timestamp.toISOString() });
}
