/** Reminders as Firestore keeps them. */

import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { COLLECTIONS, reminderPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { Page, Position, Slice } from '../../../kernel/paging.ts';
import type { Reminder } from '../rules/reminder.ts';

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
