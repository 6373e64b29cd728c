import { FieldValue } from '@google-cloud/firestore';
import type { EventChanges } from '../../domain/events/event.ts';
import type { ReminderChanges } from '../../domain/reminders/reminder.ts';
import type { ChangeWriters } from './commitWrites.ts';
import { eventToDocument } from './eventDocument.ts';
import { eventPath, reminderPath } from './paths.ts';
import { reminderToDocument } from './reminderDocument.ts';

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
