/** Recurring tasks as Firestore keeps them. */

import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { COLLECTIONS, recurringTaskPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import {
  FREQUENCIES,
  type Occurrence,
  type RecurrenceRule,
  type RecurringTask,
} from '../rules/recurrence.ts';
import { PRIORITIES } from '../rules/todo.ts';

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
