import { type DocumentSnapshot, FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import type { Log } from '../../domain/ports.ts';
import type { Page, Position, Slice } from '../../domain/readers.ts';
import type { DueReminders, ReminderReader } from '../../domain/reminders/ports.ts';
import type { Reminder } from '../../domain/reminders/reminder.ts';
import type { Versioned } from '../../domain/store.ts';
import { COLLECTIONS, reminderPath } from './paths.ts';
import { reminderFromDocument } from './reminderDocument.ts';
import { readSlice } from './slice.ts';
import { timestamp, versioned } from './timestamp.ts';

export class FirestoreReminderReader implements ReminderReader {
  private readonly database: Firestore;
  private readonly log: Log;

  constructor(database: Firestore, log: Log) {
    this.database = database;
    this.log = log;
  }

  async find(id: string): Promise<Versioned<Reminder> | undefined> {
    return read(await this.database.doc(reminderPath(id)).get());
  }

  async due(now: Date, { limit, after }: Page): Promise<DueReminders> {
    const due = this.all
      .where('sent', '==', false)
      .where('remind_at', '<=', now)
      .orderBy('remind_at')
      .orderBy(FieldPath.documentId())
      .limit(limit);
    const { docs } = await (after === undefined ? due : due.startAfter(after.at, after.id)).get();
    const last = docs.length < limit ? undefined : docs.at(-1);
    return {
      reminders: this.readable(docs),
      ...(last && { next: positionOf(last) }),
    };
  }

  upcoming(ownerUid: string, now: Date, page: Page): Promise<Slice<Reminder>> {
    return readSlice(this.upcomingOf(ownerUid, now), 'remind_at', 'asc', page, reminderFromDocument);
  }

  async countUpcoming(ownerUid: string, now: Date): Promise<number> {
    return (await this.upcomingOf(ownerUid, now).count().get()).data().count;
  }

  list(ownerUid: string, page: Page): Promise<Slice<Reminder>> {
    return readSlice(this.of(ownerUid), 'remind_at', 'desc', page, reminderFromDocument);
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

  /** One that somebody has broken by hand must not keep the schedule from the others. */
  private readable(snapshots: readonly DocumentSnapshot[]): readonly Versioned<Reminder>[] {
    return snapshots.flatMap((snapshot) => {
      try {
        return read(snapshot) ?? [];
      } catch (error) {
        this.log.error('reminder_unreadable', { reminderId: snapshot.id, error });
        return [];
      }
    });
  }
}

function read(snapshot: DocumentSnapshot): Versioned<Reminder> | undefined {
  if (snapshot.updateTime === undefined) return undefined;
  return versioned(reminderFromDocument(snapshot.data()), snapshot.updateTime);
}

/** What a range of times finds has a time. */
function positionOf(snapshot: DocumentSnapshot): Position {
  const { remind_at } = z.looseObject({ remind_at: timestamp }).parse(snapshot.data());
  return { at: remind_at, id: snapshot.id };
}
