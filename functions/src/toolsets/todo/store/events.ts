/** Firestore storage of to-do events, in their published format plus a timestamp, and of reminders. */
import { FieldValue, type Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { timestamp } from '../../../kernel/documentCodec.ts';
import { createOnce } from '../../../kernel/firestore/client.ts';
import { COLLECTIONS, eventPath, eventReceiptPath, reminderPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { TaskHistory } from '../rules/ports.ts';
import { type ReminderChanges, reminderToDocument } from '../rules/reminders/reminder.ts';
import { type EventChanges, eventMessage, eventOf, messageOf, type TaskEvent } from '../rules/taskEvent.ts';

/** A Firestore update keeps fields that it does not mention, so these two fields are deleted explicitly. */
const NEVER_SENT = { sent_at: FieldValue.delete(), late: FieldValue.delete() };

export const reminderWriters: ChangeWriters<EventChanges & ReminderChanges> = {
  recordEvent({ event }, writes) {
    writes.createPermanent(eventPath(event.id), eventToDocument(event));
  },
  createReminder({ reminder }, writes) {
    writes.set(reminderPath(reminder.id), reminderToDocument(reminder));
  },
  moveReminder({ reminder, version }, writes) {
    writes.replace(reminderPath(reminder.id), { ...NEVER_SENT, ...reminderToDocument(reminder) }, version);
  },
  setReminder({ reminder, before }, writes) {
    const document = { ...(before && NEVER_SENT), ...reminderToDocument(reminder) };
    writes.createOrReplace(reminderPath(reminder.id), document, before?.version);
  },
  cancelReminder({ before: { value, version } }, writes) {
    writes.deleteAt(reminderPath(value.id), version);
  },
  deleteReminder({ id, version }, writes) {
    if (version === undefined) writes.delete(reminderPath(id));
    else writes.deleteAt(reminderPath(id), version);
  },
};

const eventDocument = z.object({ ...eventMessage.shape, timestamp });

export function eventToDocument(event: TaskEvent): z.output<typeof eventDocument> {
  return { ...messageOf(event), timestamp: event.timestamp };
}

export function eventFromDocument(data: unknown): TaskEvent {
  const stored = eventDocument.parse(data);
  return eventOf({ ...stored, timestamp: stored.timestamp.toISOString() });
}

export class FirestoreTaskHistory extends FirestoreReader implements TaskHistory {
  async find(id: string): Promise<TaskEvent | undefined> {
    const snapshot = await this.database.doc(eventPath(id)).get();
    return this.documents.find(snapshot, eventFromDocument);
  }

  history(ownerUid: string, taskId: string, page: PageRequest): Promise<ListPage<TaskEvent>> {
    const happened = this.database
      .collection(COLLECTIONS.events)
      .where('user_id', '==', ownerUid)
      .where('task_id', '==', taskId);
    return this.documents.slice(happened, ['timestamp', 'desc'], page, eventFromDocument);
  }
}

/** Records the arrival of an event once. @param digest SHA-256 of the event's canonical JSON */
export function recordArrivalIn(database: Firestore) {
  return async (event: TaskEvent, digest: string, recorded_at: Date): Promise<void> => {
    const { event_data: _, schema_version: _version, ...arrived } = eventToDocument(event);
    await createOnce(database.doc(eventReceiptPath(event.id)), { ...arrived, digest, recorded_at });
  };
}
