/** Arguments and answers that the tools of reminders share. Source: spec/todo.md, "list_reminders". */
import { z } from 'zod';
import { idOf } from '../../domain/ids.ts';
import { type Reminder, reminderAnswer } from '../../domain/reminders/reminder.ts';

const time = z.iso.datetime();

export const reminderId = idOf('a reminder').describe('From todo_list_reminders');

/** The contract requires nothing of an answer. */
export const reminderShape = z
  .object({
    id: z.string(),
    task_id: z.string(),
    task_title: z.string(),
    remind_at: time,
    sent: z.boolean(),
    sent_at: time.describe('When it was sent.'),
    late: z.boolean().describe('Whether that was minutes after it was to be.'),
  })
  .partial();

export const setShape = z
  .object({ success: z.boolean(), reminder: reminderShape, message: z.string() })
  .partial();

export function setAnswer(reminder: Reminder) {
  const message = `The reminder comes at ${reminder.remindAt.toISOString()}.`;
  return { success: true, reminder: reminderAnswer(reminder), message };
}
