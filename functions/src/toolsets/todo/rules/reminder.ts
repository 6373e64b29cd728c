/**
 * Reminders. A to-do with a due date has one, under the to-do's own id: it moves with the due date, and goes when
 * the to-do is completed or deleted. Source: spec/todo.md, "list_reminders"; docs/semantics.md#to-dos.
 */
import type { JsonObject } from '../../../kernel/json.ts';
import type { TaskEvent } from './outbox.ts';

/** How long before the due date, where its owner has not said otherwise. */
export const DEFAULT_LEAD_MILLISECONDS = 60 * 60_000;

/** Later than this is late: the schedule runs every minute. */
const LATE_MILLISECONDS = 2 * 60_000;

export interface Reminder {
  /** The to-do's. */
  readonly id: string;
  readonly taskId: string;
  readonly taskTitle: string;
  readonly ownerUid: string;
  readonly remindAt: Date;
  readonly sent: boolean;
  readonly sentAt?: Date;
  /** Sent, but much later than it was to be. */
  readonly late?: boolean;
}

/** What a reminder needs to know of its to-do. */
interface Remindable {
  readonly id: string;
  readonly ownerUid: string;
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

export function reminderAt({ id, ownerUid, title }: Remindable, remindAt: Date): Reminder {
  return { id, taskId: id, taskTitle: title, ownerUid, remindAt, sent: false };
}

/** The reminder after it was sent. */
export function sentReminder(reminder: Reminder, now: Date): Reminder {
  const isLate = now.getTime() - reminder.remindAt.getTime() > LATE_MILLISECONDS;
  return { ...reminder, sent: true, sentAt: now, ...(isLate && { late: true }) };
}

/** Says that the reminder became due. Its id is the same however often that is found out. */
export function reminderEvent(before: Reminder, after: Reminder, now: Date): TaskEvent {
  const changes = ['sent', 'sent_at', ...(after.late === true ? ['late'] : [])];
  return {
    id: `reminder-${before.id}-${before.remindAt.getTime()}`,
    type: 'reminder',
    taskId: before.taskId,
    userId: before.ownerUid,
    timestamp: now,
    before: reminderAnswer(before),
    after: reminderAnswer(after),
    changes,
  };
}

/** A reminder as tools answer it. */
export function reminderAnswer(reminder: Reminder) {
  return {
    id: reminder.id,
    task_id: reminder.taskId,
    task_title: reminder.taskTitle,
    remind_at: reminder.remindAt.toISOString(),
    sent: reminder.sent,
    ...(reminder.sentAt && { sent_at: reminder.sentAt.toISOString() }),
    ...(reminder.late === true && { late: true }),
  } satisfies JsonObject;
}

/** What commits may change of reminders. */
export interface ReminderChanges {
  /** In place of the one that the to-do may have. */
  readonly createReminder: { readonly reminder: Reminder };
  readonly moveReminder: { readonly reminder: Reminder; readonly version: string };
  /** Whether there is one or not; with a version only that one. */
  readonly deleteReminder: { readonly id: string; readonly version?: string };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends ReminderChanges {}
}
