import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { BegunRecurrence } from '../rules/recurringTasks.ts';
import {
  date,
  dateOf,
  description,
  fewTags,
  frequency,
  occurrenceAnswer,
  occurrenceShape,
  priority,
  recurringTaskAnswer,
  recurringTaskShape,
  timezone,
  title,
  writing,
  writingOwner,
} from './shapes.ts';

const answer = ({ recurringTask, first }: BegunRecurrence) => ({
  success: true,
  recurring_task: recurringTaskAnswer(recurringTask),
  first_occurrence: occurrenceAnswer(first),
  message: `Recurring task '${recurringTask.title}' created. First occurrence on ${recurringTask.latest.due.toISOString()}`,
});

export const createRecurringTask = defineTool({
  name: 'create_recurring_task',
  title: 'Create a recurring to-do',
  description: 'Adds a to-do that repeats: completing or deleting an occurrence creates the next.',
  details: 'Occurrences are computed from start_date; a month that lacks its day has one on its last day.',
  input: z.strictObject({
    title: title('Task title'),
    description: description('Task description'),
    frequency: frequency('How often'),
    start_date: date('First occurrence, in UTC'),
    end_date: date('Last occurrence').optional(),
    timezone,
    priority: priority('MEDIUM by default').optional(),
    tags: fewTags('Tags').optional(),
  }),
  output: z
    .object({
      success: z.boolean(),
      recurring_task: recurringTaskShape,
      first_occurrence: occurrenceShape.describe('The first generated task occurrence'),
      message: z.string(),
    })
    .partial(),
  annotations: { ...writing, destructiveHint: false, idempotentHint: false },
  role: 'viewer',
  example: { title: 'Check emails', frequency: 'DAILY', start_date: '2099-02-11T09:00:00Z' },
  answer,
  handler: ({ services, principal, recordAnswer }, { frequency: often, timezone: zone, ...written }) => {
    const { start_date, end_date, ...draft } = written;
    const [anchor, endDate] = [dateOf(start_date), dateOf(end_date)];
    const rule = { frequency: often, anchor, endDate, timezone: zone };
    return services.recurringTasks.create(writingOwner(principal), { ...draft, rule }, recordAnswer);
  },
});
