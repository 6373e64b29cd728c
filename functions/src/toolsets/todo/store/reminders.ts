/** Reminders and recurring tasks as Firestore keeps them. */

import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { COLLECTIONS, recurringTaskPath, reminderPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { fieldsCodec } from '../../../kernel/firestore/trail.ts';
import type { Page, Position, Slice } from '../../../kernel/paging.ts';
import { FREQUENCIES } from '../rules/recurrenceRule.ts';
import { PRIORITIES } from '../rules/todo.ts';

export const { toDocument: reminderToDocument, fromDocument: reminderFromDocument } = documentCodec(
  z.object({
    /** The to-do's. */
    id: z.string(),
    task_id: z.string(),
    task_title: z.string(),
    owner_uid: z.string(),
    remind_at: timestamp,
    sent: z.boolean(),
    sent_at: timestamp.exactOptional(),
    /** Sent, but much later than it was to be. */
    late: z.boolean().exactOptional(),
  }),
);

export type Reminder = ReturnType<typeof reminderFromDocument>;

export const reminderFields = fieldsCodec<Reminder>(reminderToDocument, reminderFromDocument);

export class ReminderQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<Reminder> | undefined> {
    return this.documents.findVersioned(
      await this.database.doc(reminderPath(id)).get(),
      reminderFromDocument,
    );
  }

  /** Those that are to be sent by `now`, longest ago first, and after which place there are more. */
  async due(now: Date, { limit, after }: Page) {
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

  /** A person's: those that are still to be sent after an instant, the next first; or all, the latest first. */
  async list(ownerUid: string, after: Date | undefined, page: Page): Promise<Counted<Reminder>> {
    const own = this.all.where('owner_uid', '==', ownerUid);
    const matching = after ? own.where('sent', '==', false).where('remind_at', '>', after) : own;
    const [slice, counted] = await Promise.all([
      this.documents.slice(matching, 'remind_at', after ? 'asc' : 'desc', page, reminderFromDocument),
      matching.count().get(),
    ]);
    return { ...slice, total: counted.data().count };
  }

  private get all(): Query {
    return this.database.collection(COLLECTIONS.reminders);
  }
}

interface Counted<Item> extends Slice<Item> {
  readonly total: number;
}

/** What a range of times finds has a time. */
function positionOf(snapshot: DocumentSnapshot): Position {
  const { remind_at } = z.looseObject({ remind_at: timestamp }).parse(snapshot.data());
  return { at: remind_at, id: snapshot.id };
}

/** A task that makes to-dos again and again: `recurringTasks/{id}`. */
const recurringTaskCodec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    priority: z.enum(PRIORITIES),
    tags: z.array(z.string()),
    created_at: timestamp,
    /** No more occurrences come: it was deleted, or the last one was done. */
    ended_at: timestamp.nullable(),
    frequency: z.enum(FREQUENCIES),
    /** The first occurrence. It alone says on which day and at what time of day the others are. */
    start_date: timestamp,
    /** The last instant at which an occurrence may be due, itself included. */
    end_date: timestamp.nullable(),
    /** The IANA zone whose calendar and clock count. */
    timezone: z.string(),
    /** The date and time of day that the rule means, if the clock of a zone that it was moved to skips them at `start_date`. */
    local_start: z.string().nullable().default(null),
    /** The last occurrence that was made. Only what ends this one makes another. */
    latest_on: z.string(),
    latest_due: timestamp,
  }),
  { start_date: 'anchor' },
);

export const recurringTaskFromDocument = recurringTaskCodec.fromDocument;

export type RecurringTask = ReturnType<typeof recurringTaskFromDocument>;

export function recurringTaskToDocument(recurring: RecurringTask): Record<string, unknown> {
  // Beside `ended_at` for queries.
  return { ...recurringTaskCodec.toDocument(recurring), ended: recurring.endedAt !== undefined };
}

export const recurringTaskFields = fieldsCodec<RecurringTask>(
  recurringTaskToDocument,
  recurringTaskFromDocument,
);

export class RecurringTaskQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<RecurringTask> | undefined> {
    const snapshot = await this.database.doc(recurringTaskPath(id)).get();
    return this.documents.findVersioned(snapshot, recurringTaskFromDocument);
  }

  /** Newest first. */
  async list(ownerUid: string, withEnded: boolean, page: Page): Promise<Counted<RecurringTask>> {
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
