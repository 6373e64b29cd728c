/** Firestore storage of reminders and recurring to-dos. */
import type { Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { fieldsCodec } from '../../../kernel/documentCodec.ts';
import { COLLECTIONS, recurringTaskPath, reminderPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import type { PageRequest, SweepBatch } from '../../../kernel/paging.ts';
import type { Counted, RecurringTaskQueries, ReminderQueries } from '../rules/ports.ts';
import {
  type RecurringTask,
  recurringTaskCodec,
  recurringTaskFromDocument,
} from '../rules/recurring/recurrenceRule.ts';
import { type Reminder, reminderFromDocument } from '../rules/reminders/reminder.ts';

export class FirestoreReminderQueries extends FirestoreReader implements ReminderQueries {
  private readonly all: Query = this.database.collection(COLLECTIONS.reminders);

  async find(id: string): Promise<Versioned<Reminder> | undefined> {
    return this.documents.findVersioned(await this.database.doc(reminderPath(id)).get(), reminderFromDocument);
  }

  due(now: Date, page: PageRequest): Promise<SweepBatch<Versioned<Reminder>>> {
    const unsent = this.all.where('sent', '==', false);
    return readDue(unsent, 'remind_at', { now, ...page }, (snapshot) =>
      this.documents.readableVersioned(snapshot, reminderFromDocument),
    );
  }

  async list(ownerUid: string, after: Date | undefined, page: PageRequest): Promise<Counted<Reminder>> {
    const own = this.all.where('owner_uid', '==', ownerUid);
    const matching = after ? own.where('sent', '==', false).where('remind_at', '>', after) : own;
    const [slice, counted] = await Promise.all([
      this.documents.slice(matching, ['remind_at', after ? 'asc' : 'desc'], page, reminderFromDocument),
      matching.count().get(),
    ]);
    return { ...slice, total: counted.data().count };
  }
}

export function recurringTaskToDocument(recurring: RecurringTask): Record<string, unknown> {
  // `ended` is stored only because queries filter by it.
  return { ...recurringTaskCodec.toDocument(recurring), ended: recurring.ended_at !== undefined };
}

export const recurringTaskFields = fieldsCodec<RecurringTask>(recurringTaskToDocument, recurringTaskFromDocument);

export class FirestoreRecurringTaskQueries extends FirestoreReader implements RecurringTaskQueries {
  async find(id: string): Promise<Versioned<RecurringTask> | undefined> {
    const snapshot = await this.database.doc(recurringTaskPath(id)).get();
    return this.documents.findVersioned(snapshot, recurringTaskFromDocument);
  }

  async list(ownerUid: string, withEnded: boolean, page: PageRequest): Promise<Counted<RecurringTask>> {
    const matching = this.database
      .collection(COLLECTIONS.recurringTasks)
      .where('owner_uid', '==', ownerUid)
      .where('ended', 'in', withEnded ? [false, true] : [false]);
    const [counted, slice] = await Promise.all([
      matching.orderBy('created_at', 'desc').count().get(),
      this.documents.slice(matching, ['created_at', 'desc'], page, recurringTaskFromDocument),
    ]);
    return { ...slice, total: counted.data().count };
  }
}
