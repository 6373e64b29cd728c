import { FieldValue, type Firestore, type WriteBatch } from '@google-cloud/firestore';
import type { Change } from '../../domain/store.ts';
import { eventToDocument } from './eventDocument.ts';
import { eventPath, reminderPath } from './paths.ts';
import type { CommitProof } from './provenCommit.ts';
import { reminderToDocument } from './reminderDocument.ts';
import { atVersion } from './timestamp.ts';

/** An update keeps the fields that it does not name. */
const NEVER_SENT = { sent_at: FieldValue.delete(), late: FieldValue.delete() };

/** Adds an event or a change of a reminder to the batch; another change adds nothing. */
export function addSpineChange(
  database: Firestore,
  batch: WriteBatch,
  change: Change,
  proof: CommitProof,
): void {
  switch (change.kind) {
    case 'recordEvent': {
      const document = database.doc(eventPath(change.event.id));
      batch.create(document, proof.lastingIn(document, eventToDocument(change.event)));
      break;
    }
    case 'createReminder':
      batch.set(database.doc(reminderPath(change.reminder.id)), reminderToDocument(change.reminder));
      break;
    case 'moveReminder': {
      const { reminder, version } = change;
      batch.update(
        database.doc(reminderPath(reminder.id)),
        { ...NEVER_SENT, ...reminderToDocument(reminder) },
        atVersion(version),
      );
      break;
    }
    case 'deleteReminder':
      batch.delete(database.doc(reminderPath(change.id)), change.version ? atVersion(change.version) : {});
      break;
  }
}
