/** The tools that set, snooze, delete and list reminders. Source: the to-do specification. */
import { z } from 'zod';
import { MINUTE_MS } from '../../../kernel/ports.ts';
import { optionalFields, reading } from '../../../mcp/tool.ts';
import { MAX_LEAD_MINUTES } from '../rules/reminders/reminder.ts';
import { reminderResponse } from '../rules/reminders/reminders.ts';
import { cursor, fittingPage, MAX_LIMIT, pagesOf, pagesShape, timePageOf } from './todoLists.ts';
import * as shapes from './todoResponses.ts';

export const setReminder = shapes.defineTool({
  name: 'set_reminder',
  title: 'Set a reminder',
  description: "Sets a to-do's reminder time, replacing its current reminder.",
  details: 'A due date also sets a reminder.',
  input: z.strictObject({ task_id: shapes.taskId, remind_at: shapes.date('In UTC') }),
  output: shapes.setShape,
  ...shapes.writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', remind_at: '2099-02-11T16:00:00Z' },
  response: shapes.setReminderResponse,
  handler: ({ services, principal, recordResponse }, { task_id, remind_at }) =>
    services.reminders.set(principal.owner_uid, task_id, new Date(remind_at), recordResponse),
});

export const snoozeReminder = shapes.defineTool({
  name: 'snooze_reminder',
  title: 'Snooze a reminder',
  description: 'Snoozes a reminder for some minutes, even one already sent.',
  input: z.strictObject({
    reminder_id: shapes.reminderId,
    minutes: z.int().min(1).max(MAX_LEAD_MINUTES).default(10).describe('Minutes'),
  }),
  output: shapes.setShape,
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: { reminder_id: 'todo-xxx-001', minutes: 30 },
  response: shapes.setReminderResponse,
  handler: ({ services, principal, recordResponse }, { reminder_id, minutes }) =>
    services.reminders.snooze(principal.owner_uid, reminder_id, minutes * MINUTE_MS, recordResponse),
});

export const deleteReminder = shapes.defineTool({
  name: 'delete_reminder',
  title: 'Delete a reminder',
  description: 'Deletes a reminder, not its to-do.',
  details: 'The to-do has no reminder until todo.set_reminder is called.',
  input: z.strictObject({ reminder_id: shapes.reminderId }),
  output: optionalFields({ success: z.boolean(), message: z.string() }),
  ...shapes.writing({ destructiveHint: true, idempotentHint: false }),
  example: { reminder_id: 'todo-xxx-001' },
  response: () => ({ success: true, message: 'The reminder was deleted. Its to-do stays.' }),
  handler: async ({ services, principal, recordResponse }, { reminder_id }) =>
    services.reminders.delete(principal.owner_uid, reminder_id, recordResponse),
});

const limited = z
  .int()
  .refine((limit) => limit >= 1, 'expected a whole number from 1 to 100')
  .max(MAX_LIMIT)
  .default(10)
  .describe('Maximum');

export const listReminders = shapes.defineTool({
  name: 'list_reminders',
  title: 'List reminders',
  description: 'Lists upcoming reminders, soonest first. upcoming: false lists all, latest first.',
  input: z.strictObject({ upcoming: z.boolean().default(true).describe('Only upcoming ones'), limit: limited, cursor }),
  output: optionalFields({ reminders: z.array(shapes.reminderShape), total: z.int(), ...pagesShape }),
  ...reading,
  example: { upcoming: true, limit: 10 },
  handler: async ({ services, principal }, { upcoming, ...asked }) => {
    const page = timePageOf({ upcoming }, asked);
    const found = await services.reminders.list(principal.owner_uid, upcoming, page);
    const { answers, end } = fittingPage({ upcoming }, found, reminderResponse, ({ remind_at }) => remind_at);
    return { reminders: answers, total: found.total, ...pagesOf(found.total, asked), ...end };
  },
});
