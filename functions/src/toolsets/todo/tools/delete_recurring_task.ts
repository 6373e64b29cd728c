import { z } from 'zod';
import type { RecurringTask } from '../rules/recurrenceRule.ts';
import * as shapes from './todoAnswers.ts';
import { defineTool } from './todoAnswers.ts';

const answer = (recurring: RecurringTask) =>
  shapes.writtenRecurringAnswer(
    recurring,
    `Recurring task '${recurring.title}' ended. The occurrence that there is now stays.`,
  );

export const deleteRecurringTask = defineTool({
  name: 'delete_recurring_task',
  title: 'End a recurring to-do',
  description: 'Ends a repeating to-do. Its present occurrence stays; todo.delete_task removes that.',
  input: z.strictObject({ recurring_task_id: shapes.recurringTaskId }),
  output: shapes.writtenRecurringShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { recurring_task_id: 'recurring-xxx-001' },
  answer,
  handler: ({ services, principal, recordAnswer }, { recurring_task_id }) =>
    services.recurringTasks.end(principal.owner_uid, recurring_task_id, recordAnswer),
});
