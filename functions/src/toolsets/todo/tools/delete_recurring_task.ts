import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { RecurringTask } from '../rules/recurrence.ts';
import {
  recurringTaskAnswer,
  recurringTaskId,
  writing,
  writingOwner,
  writtenRecurringShape,
} from './shapes.ts';

const answer = (recurring: RecurringTask) => ({
  success: true,
  recurring_task: recurringTaskAnswer(recurring),
  message: `Recurring task '${recurring.title}' ended. The occurrence that there is now stays.`,
});

export const deleteRecurringTask = defineTool({
  name: 'delete_recurring_task',
  title: 'End a recurring to-do',
  description: 'Ends a repeating to-do. Its present occurrence stays; todo_delete_task removes that.',
  input: z.strictObject({ recurring_task_id: recurringTaskId }),
  output: writtenRecurringShape,
  annotations: { ...writing, destructiveHint: true, idempotentHint: true },
  role: 'viewer',
  example: { recurring_task_id: 'recurring-xxx-001' },
  answer,
  handler: ({ services, principal, recordAnswer }, { recurring_task_id }) =>
    services.recurringTasks.end(writingOwner(principal), recurring_task_id, recordAnswer),
});
