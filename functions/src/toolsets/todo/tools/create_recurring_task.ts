import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import type { BegunRecurrence } from '../rules/recurringTasks.ts';
import * as shapes from './todoAnswers.ts';
import { defineTool } from './todoAnswers.ts';

const { dateOf } = shapes;

function answer({ recurringTask: task, first, lastDue }: BegunRecurrence) {
  const last = lastDue ? `, last on ${lastDue.toISOString()}` : '';
  const message = `Recurring task '${task.title}' created. First occurrence on ${task.latest_due.toISOString()}${last}`;
  return {
    ...shapes.writtenRecurringAnswer(task, message),
    first_occurrence: shapes.occurrenceAnswer(first),
  };
}

export const createRecurringTask = defineTool({
  name: 'create_recurring_task',
  title: 'Create a recurring to-do',
  description: 'Adds a to-do that repeats: completing or deleting an occurrence creates the next.',
  details: 'Occurrences are computed from start_date; a month that lacks its day has one on its last day.',
  input: z.strictObject({
    title: shapes.title('Task title'),
    description: shapes.description('Task description'),
    frequency: shapes.frequency('How often'),
    start_date: shapes.date('First occurrence, in UTC'),
    end_date: shapes.date('Last occurrence').optional(),
    timezone: shapes.timezone,
    priority: shapes.priority('MEDIUM by default').optional(),
    tags: shapes.fewTags('Tags').optional(),
  }),
  output: partial({
    success: z.boolean(),
    recurring_task: shapes.recurringTaskShape,
    first_occurrence: shapes.occurrenceShape.describe('The first generated task occurrence'),
    message: z.string(),
  }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: { title: 'Check emails', frequency: 'DAILY', start_date: '2099-02-11T09:00:00Z' },
  answer,
  handler: ({ services, principal, recordAnswer }, { start_date, end_date, ...written }) => {
    const draft = { ...written, start_date: dateOf(start_date), end_date: dateOf(end_date) };
    return services.recurringTasks.create(principal.owner_uid, draft, recordAnswer);
  },
});
