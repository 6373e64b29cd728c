import { z } from 'zod';
import { clearArgument, clearing } from '../../../mcp/tool.ts';
import type { EditedRecurringTask } from '../rules/recurringTasks.ts';
import * as shapes from './todoAnswers.ts';
import { defineTool } from './todoAnswers.ts';

const UPDATED = 'Recurring task updated. The occurrence that there is now stays as it is.';

const UNCHANGED = 'Nothing changed: the recurring task has these values already.';

export const updateRecurringTask = defineTool({
  name: 'update_recurring_task',
  title: 'Change a recurring to-do',
  description:
    'Changes the occurrences to come of a repeating to-do; todo.update_task changes the present one.',
  input: z.strictObject({
    recurring_task_id: shapes.recurringTaskId,
    title: shapes.title('New title').optional(),
    description: shapes.description('New description'),
    priority: shapes.priority('New priority').optional(),
    tags: shapes.fewTags('Replace the old tags').optional(),
    frequency: shapes.frequency('New frequency').optional(),
    end_date: shapes.date('New last day').optional(),
    timezone: shapes.timezone,
    clear: clearArgument('description', 'end_date'),
  }),
  output: shapes.writtenRecurringShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { recurring_task_id: 'recurring-xxx-001', frequency: 'WEEKLY' },
  answer: ({ recurringTask, isChanged }: EditedRecurringTask) =>
    shapes.writtenRecurringAnswer(recurringTask, isChanged ? UPDATED : UNCHANGED),
  handler: async ({ services, principal, recordAnswer }, { recurring_task_id, clear, ...fields }) => {
    const { end_date, description, ...others } = fields;
    const changed = clearing(clear);
    const edit = {
      ...others,
      description: changed('description', description),
      end_date: changed('end_date', shapes.dateOf(end_date)),
    };
    shapes.requireChange(edit, 'title, description, priority, tags, frequency, end_date, timezone and clear');
    return services.recurringTasks.edit(principal.owner_uid, recurring_task_id, edit, recordAnswer);
  },
});
