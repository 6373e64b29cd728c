/** Reminders and recurring tasks as Firestore keeps them. */

import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { COLLECTIONS, recurringTaskPath, reminderPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { Page, Position, Slice } from '../../../kernel/paging.ts';
import {
  FREQUENCIES,
  type Occurrence,
  type RecurrenceRule,
  type RecurringTask,
} from '../rules/recurrence.ts';
import type { Reminder } from '../rules/reminders.ts';
import { PRIORITIES } from '../rules/todo.ts';

export const { toDocument: reminderToDocument, fromDocument: reminderFromDocument }: DocumentCodec<Reminder> =
  documentCodec(
    z.object({
      id: z.string(),
      task_id: z.string(),
      task_title: z.string(),
      owner_uid: z.string(),
      remind_at: timestamp,
      sent: z.boolean(),
      sent_at: timestamp.exactOptional(),
      late: z.boolean().exactOptional(),
    }),
  );

export class FirestoreReminderReader extends FirestoreReader {
  async find(id: string): Promise<Versioned<Reminder> | undefined> {
    return this.documents.findVersioned(
      await this.database.doc(reminderPath(id)).get(),
      reminderFromDocument,
    );
  }

  /** Those that are to be sent by `now`, longest ago first, and after which place there are more. */
  async due(
    now: Date,
    { limit, after }: Page,
  ): Promise<{ readonly reminders: readonly Versioned<Reminder>[]; readonly next?: Position }> {
    const due = this.all
      .where('sent', '==', false)
      .where('remind_at', '<=', now)
      .orderBy('remind_at')
      .orderBy(FieldPath.documentId())
      .limit(limit);
    const { docs } = await (after === undefined ? due : due.startAfter(after.at, after.id)).get();
    const last = docs.length < limit ? undefined : docs.at(-1);
    return {
      reminders: docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, reminderFromDocument)),
      ...(last && { next: positionOf(last) }),
    };
  }

  /** A person's that are still to be sent, after `now`: the next first. */
  upcoming(ownerUid: string, now: Date, page: Page): Promise<Slice<Reminder>> {
    return this.documents.slice(
      this.upcomingOf(ownerUid, now),
      'remind_at',
      'asc',
      page,
      reminderFromDocument,
    );
  }

  async countUpcoming(ownerUid: string, now: Date): Promise<number> {
    return (await this.upcomingOf(ownerUid, now).count().get()).data().count;
  }

  /** All of a person's, the latest first. */
  list(ownerUid: string, page: Page): Promise<Slice<Reminder>> {
    return this.documents.slice(this.of(ownerUid), 'remind_at', 'desc', page, reminderFromDocument);
  }

  async count(ownerUid: string): Promise<number> {
    return (await this.of(ownerUid).count().get()).data().count;
  }

  private get all(): Query {
    return this.database.collection(COLLECTIONS.reminders);
  }

  private of(ownerUid: string): Query {
    return this.all.where('owner_uid', '==', ownerUid);
  }

  private upcomingOf(ownerUid: string, now: Date): Query {
    return this.of(ownerUid).where('sent', '==', false).where('remind_at', '>', now);
  }
}

/** What a range of times finds has a time. */
function positionOf(snapshot: DocumentSnapshot): Position {
  const { remind_at } = z.looseObject({ remind_at: timestamp }).parse(snapshot.data());
  return { at: remind_at, id: snapshot.id };
}

// Recurring tasks as Firestore keeps them.

const codec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    priority: z.enum(PRIORITIES),
    tags: z.array(z.string()),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  }),
);

const rules: DocumentCodec<RecurrenceRule> = documentCodec(
  z.object({
    frequency: z.enum(FREQUENCIES),
    start_date: timestamp,
    end_date: timestamp.nullable(),
    timezone: z.string(),
  }),
  { start_date: 'anchor' },
);

const latest: DocumentCodec<Occurrence> = documentCodec(
  z.object({ latest_on: z.string(), latest_due: timestamp }),
  { latest_on: 'on', latest_due: 'due' },
);

export function recurringTaskToDocument(recurring: RecurringTask): Record<string, unknown> {
  return {
    ...codec.toDocument(recurring),
    ...rules.toDocument(recurring.rule),
    ...latest.toDocument(recurring.latest),
    // Beside `ended_at` for queries.
    ended: recurring.endedAt !== undefined,
  };
}

export function recurringTaskFromDocument(data: unknown): RecurringTask {
  return {
    ...codec.fromDocument(data),
    rule: rules.fromDocument(data),
    latest: latest.fromDocument(data),
  };
}

export class FirestoreRecurringTaskReader extends FirestoreReader {
  async find(id: string): Promise<Versioned<RecurringTask> | undefined> {
    const snapshot = await this.database.doc(recurringTaskPath(id)).get();
    return this.documents.findVersioned(snapshot, recurringTaskFromDocument);
  }

  /** Newest first. */
  async list(
    ownerUid: string,
    withEnded: boolean,
    page: Page,
  ): Promise<Slice<RecurringTask> & { readonly total: number }> {
    const matching = this.database
      .collection(COLLECTIONS.recurringTasks)
      .where('owner_uid', '==', ownerUid)
      .where('ended', 'in', withEnded ? [false, true] : [false]);
    const [counted, slice] = await Promise.all([
      matching.orderBy('created_at', 'desc').count().get(),
      this.documents.slice(matching, 'created_at', 'desc', page, recurringTaskFromDocument),
    ]);
    return { ...slice, total: counted.data().count };
  }
}
