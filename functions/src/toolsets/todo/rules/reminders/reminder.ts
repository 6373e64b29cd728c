/** A reminder, as it is stored, and when it is due. Source: the to-do specification, set_reminder. */

import { z } from 'zod/mini';
import type { Versioned } from '../../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../../kernel/documentCodec.ts';

/** How long before the due date, where its owner has not said otherwise. */
export const DEFAULT_LEAD_MILLISECONDS = 60 * 60000;

/** People write it themselves, as the security rules allow: what is missing or unknown is as by default. */
export const preferencesDocument = z.object({
  reminder_lead_minutes: z.catch(z.int().check(z.minimum(0)), DEFAULT_LEAD_MILLISECONDS / 60_000),
  push: z.catch(z.boolean(), true),
  email: z.catch(z.boolean(), false),
  agents_may_answer: z.catch(z.array(z.string()), []),
});

interface Remindable {
  readonly id: string;
  readonly owner_uid: string;
  readonly title: string;
}

/** The reminder of a to-do that is due at `dueDate`; at once where the time for it has passed already. */
export function reminderBefore(
  todo: Remindable,
  dueDate: Date,
  now: Date,
  leadMilliseconds = DEFAULT_LEAD_MILLISECONDS,
): Reminder {
  return reminderAt(todo, new Date(Math.max(dueDate.getTime() - leadMilliseconds, now.getTime())));
}

export function reminderAt({ id, owner_uid, title }: Remindable, remindAt: Date): Reminder {
  return { id, task_id: id, task_title: title, owner_uid, remind_at: remindAt, sent: false };
}

export interface ReminderChanges {
  /** In place of the one that the to-do may have. */
  readonly createReminder: { readonly reminder: Reminder };
  readonly moveReminder: { readonly reminder: Reminder; readonly version: string };
  /** By itself, and not because its to-do changes: the trail tells of it. `before` is what it takes the place of. */
  readonly setReminder: { readonly reminder: Reminder; readonly before?: Versioned<Reminder> | undefined };
  readonly dropReminder: { readonly before: Versioned<Reminder> };
  /** Whether there is one or not; with a version only that one. */
  readonly deleteReminder: { readonly id: string; readonly version?: string };
}

export const { toDocument: reminderToDocument, fromDocument: reminderFromDocument } = documentCodec(
  z.object({
    /** The to-do's. */
    id: z.string(),
    task_id: z.string(),
    task_title: z.string(),
    owner_uid: z.string(),
    remind_at: timestamp,
    sent: z.boolean(),
    sent_at: z.exactOptional(timestamp),
    /** Sent, but much later than it was to be. */
    late: z.exactOptional(z.boolean()),
  }),
);

export type Reminder = ReturnType<typeof reminderFromDocument>;

export const reminderFields = fieldsCodec<Reminder>(reminderToDocument, reminderFromDocument);
