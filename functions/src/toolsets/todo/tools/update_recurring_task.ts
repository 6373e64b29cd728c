import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { RecurringTask } from '../rules/recurrence.ts';
import {
  clearableDate,
  clearableDescription,
  dateOf,
  fewTags,
  frequency,
  priority,
  recurringTaskAnswer,
  recurringTaskId,
  timezone,
  title,
  writing,
  writingOwner,
  writtenRecurringShape,
} from './shapes.ts';

const answer = (recurring: RecurringTask) => ({
  success: true,
  recurring_task: recurringTaskAnswer(recurring),
  message: 'Recurring task updated. The occurrence that there is now stays as it is.',
});

export const updateRecurringTask = defineTool({
  name: 'update_recurring_task',
  title: 'Change a recurring to-do',
  description:
    'Changes the occurrences to come of a repeating to-do; todo_update_task changes the present one.',
  input: z.strictObject({
    recurring_task_id: recurringTaskId,
    title: title('New title').optional(),
    description: clearableDescription,
    priority: priority('New priority').optional(),
    tags: fewTags('Replace the old tags').optional(),
    frequency: frequency('New frequency').optional(),
    end_date: clearableDate('null: it repeats without end').optional(),
    timezone,
  }),
  output: writtenRecurringShape,
  annotations: { ...writing, destructiveHint: true, idempotentHint: true },
  role: 'viewer',
  example: { recurring_task_id: 'recurring-xxx-001', frequency: 'WEEKLY' },
  answer,
  handler: ({ services, principal, recordAnswer }, { recurring_task_id, end_date, ...fields }) => {
    const edit = { ...fields, endDate: dateOf(end_date) };
    return services.recurringTasks.edit(writingOwner(principal), recurring_task_id, edit, recordAnswer);
  },
});
