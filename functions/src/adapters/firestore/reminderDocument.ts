/** Reminders as Firestore keeps them. */
import { z } from 'zod';
import type { Reminder } from '../../domain/reminders/reminder.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
import { timestamp } from './timestamp.ts';

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
