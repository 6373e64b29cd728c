/** Stored reminders and notification preferences. Source: the to-do specification, set_reminder. */
import { z } from 'zod/mini';
import type { Versioned } from '../../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../../kernel/documentCodec.ts';

/** Default time from a reminder to the due date. */
export const DEFAULT_LEAD_MS = 60 * 60000;

/** Four weeks. */
export const MAX_LEAD_MINUTES = 40_320;

/** Written directly by people's clients, as the security rules allow. Missing and invalid values get defaults. */
export const preferencesDocument = z.object({
  /** Default time from a reminder to the due date. */
  reminder_lead_minutes: z.catch(z.int().check(z.minimum(0)), DEFAULT_LEAD_MS / 60_000),
  /** Push and email are used in addition to the client list. */
  push: z.catch(z.boolean(), true),
  email: z.catch(z.boolean(), false),
  /** Ids of the agents that may answer questions in the person's place. */
  agents_may_answer: z.catch(z.array(z.string()), []),
});
export type Preferences = Readonly<z.output<typeof preferencesDocument>>;

interface Remindable {
  readonly id: string;
  readonly owner_uid: string;
  readonly title: string;
}

/** Returns the reminder for a to-do due at `dueDate`. If the reminder's time has passed, it is due immediately. */
export function reminderBefore(
  todo: Remindable,
  dueDate: Date,
  now: Date,
  leadMilliseconds = DEFAULT_LEAD_MS,
): Reminder {
  return reminderAt(todo, new Date(Math.max(dueDate.getTime() - leadMilliseconds, now.getTime())));
}

export function reminderAt({ id, owner_uid, title }: Remindable, remindAt: Date): Reminder {
  return { id, task_id: id, task_title: title, owner_uid, remind_at: remindAt, sent: false };
}

export interface ReminderChanges {
  /** Creates the default reminder of a to-do, replacing any existing reminder. */
  readonly createReminder: { readonly reminder: Reminder };
  readonly moveReminder: { readonly reminder: Reminder; readonly version: string };
  /** Sets a reminder at a caller's request, so the audit log records it. `before` is the replaced reminder. */
  readonly setReminder: { readonly reminder: Reminder; readonly before?: Versioned<Reminder> | undefined };
  readonly cancelReminder: { readonly before: Versioned<Reminder> };
  /** Also succeeds if no reminder exists. If `version` is set, only a reminder of that version is deleted. */
  readonly deleteReminder: { readonly id: string; readonly version?: string };
}

export const { toDocument: reminderToDocument, fromDocument: reminderFromDocument } = documentCodec(
  z.object({
    /** Same value as `task_id`. */
    id: z.string(),
    task_id: z.string(),
    task_title: z.string(),
    owner_uid: z.string(),
    remind_at: timestamp,
    sent: z.boolean(),
    sent_at: z.exactOptional(timestamp),
    /** Whether the reminder was sent minutes after its time. */
    late: z.exactOptional(z.boolean()),
  }),
);

export type Reminder = ReturnType<typeof reminderFromDocument>;
export const reminderFields = fieldsCodec<Reminder>(reminderToDocument, reminderFromDocument);
