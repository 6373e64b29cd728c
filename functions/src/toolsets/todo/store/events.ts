import { FieldValue, type Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { createOnce } from '../../../kernel/firestore/client.ts';
import type { ChangeWriters } from '../../../kernel/firestore/commitWrites.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { auditPath, COLLECTIONS, eventPath, reminderPath } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import {
  type AuditEntry,
  type AuditTrail,
  type EventChanges,
  type EventReader,
  eventMessage,
  eventOf,
  messageOf,
  type TaskEvent,
} from '../rules/outbox.ts';
import type { ReminderChanges } from '../rules/reminder.ts';
import type { TaskHistory } from '../rules/todoChanges.ts';
import { reminderToDocument } from './reminders.ts';

/** An update keeps the fields that it does not name. */
const NEVER_SENT = { sent_at: FieldValue.delete(), late: FieldValue.delete() };

export const reminderWriters: ChangeWriters<EventChanges & ReminderChanges> = {
  recordEvent({ event }, writes) {
    writes.createLasting(eventPath(event.id), eventToDocument(event));
  },
  createReminder({ reminder }, writes) {
    writes.set(reminderPath(reminder.id), reminderToDocument(reminder));
  },
  moveReminder({ reminder, version }, writes) {
    writes.replace(reminderPath(reminder.id), { ...NEVER_SENT, ...reminderToDocument(reminder) }, version);
  },
  deleteReminder({ id, version }, writes) {
    if (version === undefined) writes.delete(reminderPath(id));
    else writes.deleteAt(reminderPath(id), version);
  },
};

// Events as Firestore keeps them: as they travel, but for the time.

const eventDocument = z.object({ ...eventMessage.shape, timestamp });

export function eventToDocument(event: TaskEvent): z.output<typeof eventDocument> {
  return { ...messageOf(event), timestamp: event.timestamp };
}

export function eventFromDocument(data: unknown): TaskEvent {
  const stored = eventDocument.parse(data);
  return eventOf({ ...stored, timestamp: stored.timestamp.toISOString() });
}

export class FirestoreEventReader implements EventReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(eventId: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(eventId)).get();
    return this.documents.find(snapshot, eventFromDocument);
  }
}

export class FirestoreTaskHistory implements TaskHistory {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(id: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(id)).get();
    return this.documents.find(snapshot, eventFromDocument);
  }

  history(ownerUid: string, taskId: string, page: Page): Promise<Slice<TaskEvent>> {
    const happened = this.database
      .collection(COLLECTIONS.events)
      .where('user_id', '==', ownerUid)
      .where('task_id', '==', taskId);
    return this.documents.slice(happened, 'timestamp', 'desc', page, eventFromDocument);
  }
}

export class FirestoreAuditTrail implements AuditTrail {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async record(entry: AuditEntry): Promise<void> {
    await createOnce(this.database.doc(auditPath(entry.eventId)), {
      event_id: entry.eventId,
      event_type: entry.type,
      task_id: entry.taskId,
      user_id: entry.userId,
      timestamp: entry.timestamp,
      digest: entry.digest,
      recorded_at: entry.recordedAt,
    });
  }
}
