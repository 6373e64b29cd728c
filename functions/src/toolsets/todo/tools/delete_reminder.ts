import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import { defineTool, reminderId, writing } from './todoAnswers.ts';

export const deleteReminder = defineTool({
  name: 'delete_reminder',
  title: 'Delete a reminder',
  description: 'Deletes a reminder; its to-do stays.',
  details: 'The task has none until todo.set_reminder makes another.',
  input: z.strictObject({ reminder_id: reminderId }),
  output: partial({ success: z.boolean(), message: z.string() }),
  ...writing({ destructiveHint: true, idempotentHint: false }),
  example: { reminder_id: 'todo-xxx-001' },
  answer: () => ({ success: true, message: 'The reminder is deleted. Its task stays.' }),
  handler: async ({ services, principal, recordAnswer }, { reminder_id }) =>
    services.reminders.delete(principal.owner_uid, reminder_id, recordAnswer),
});
