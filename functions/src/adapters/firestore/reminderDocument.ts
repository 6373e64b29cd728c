/** Reminders as Firestore keeps them. */
import { z } from 'zod';
import type { Reminder } from '../../domain/reminders/reminder.ts';
import { timestamp } from './timestamp.ts';

const reminderDocument = z.object({
  id: z.string(),
  task_id: z.string(),
  task_title: z.string(),
  owner_uid: z.string(),
  remind_at: timestamp,
  sent: z.boolean(),
  sent_at: timestamp.exactOptional(),
  late: z.boolean().exactOptional(),
});

export function reminderToDocument(reminder: Reminder): z.output<typeof reminderDocument> {
  return {
    id: reminder.id,
    task_id: reminder.taskId,
    task_title: reminder.taskTitle,
    owner_uid: reminder.ownerUid,
    remind_at: reminder.remindAt,
    sent: reminder.sent,
    ...(reminder.sentAt && { sent_at: reminder.sentAt }),
    ...(reminder.late !== undefined && { late: reminder.late }),
  };
}

export function reminderFromDocument(data: unknown): Reminder {
  const { task_id, task_title, owner_uid, remind_at, sent_at, ...rest } = reminderDocument.parse(data);
  return {
    ...rest,
    taskId: task_id,
    taskTitle: task_title,
    ownerUid: owner_uid,
    remindAt: remind_at,
    ...(sent_at && { sentAt: sent_at }),
  };
}
