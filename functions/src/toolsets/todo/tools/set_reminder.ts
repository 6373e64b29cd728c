import { z } from 'zod';
import { date, dateOf, defineTool, setAnswer, setShape, taskId, writing } from './todoAnswers.ts';

export const setReminder = defineTool({
  name: 'set_reminder',
  title: 'Set a reminder',
  description: 'Sets when to be reminded of a to-do, in place of the reminder it has.',
  details: 'A task with a due date has one by itself.',
  input: z.strictObject({ task_id: taskId, remind_at: date('In UTC') }),
  output: setShape,
  ...writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', remind_at: '2099-02-11T16:00:00Z' },
  answer: setAnswer,
  handler: ({ services, principal, recordAnswer }, { task_id, remind_at }) =>
    services.reminders.set(principal.owner_uid, task_id, dateOf(remind_at), recordAnswer),
});
