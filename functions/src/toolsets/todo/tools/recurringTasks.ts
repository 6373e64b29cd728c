/** The tools that create, update, delete and list recurring to-dos. Source: the to-do specification. */
import { z } from 'zod';
import { clearArgument, clearedFields, optionalFields, optionalList } from '../../../mcp/tool.ts';
import type { RecurringTask } from '../rules/recurring/recurrenceRule.ts';
import type { EditedRecurringTask, StartedRecurrence } from '../rules/recurring/recurringTasks.ts';
import { cursor, fittingPage, pageLimit, pagesOf, pagesShape, timePageOf } from './todoLists.ts';
import * as shapes from './todoResponses.ts';
import { defineTool } from './todoResponses.ts';

export const createRecurringTask = defineTool({
  name: 'create_recurring_task',
  title: 'Create a recurring to-do',
  description: 'Adds a recurring to-do: completing or deleting an occurrence creates the next.',
  details: 'Occurrences are computed from start_date; if a month lacks the day of start_date, its last day is used.',
  input: z.strictObject({
    title: shapes.title('Task title'),
    description: shapes.description('Task description'),
    frequency: shapes.frequency('Frequency'),
    ...shapes.recurrence,
    start_date: shapes.date('First occurrence, in UTC'),
    end_date: shapes.date('Last occurrence').optional(),
    timezone: shapes.timezone,
    priority: shapes.priority('Default: MEDIUM').optional(),
    tags: shapes.fewTags('Tags').optional(),
  }),
  output: optionalFields({
    success: z.boolean(),
    recurring_task: shapes.recurringTaskShape,
    first_occurrence: shapes.occurrenceShape.describe('The first generated task occurrence'),
    message: z.string(),
  }),
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: { title: 'Check emails', frequency: 'DAILY', start_date: '2099-02-11T09:00:00Z' },
  response: (started: StartedRecurrence) => {
    return { ...shapes.startedResponse(started), first_occurrence: started.first };
  },
  handler: ({ services, principal, recordResponse }, { start_date, end_date, ...written }) => {
    const draft = { ...written, start_date: new Date(start_date), end_date: shapes.dateOf(end_date) };
    return services.recurringTasks.create(principal.owner_uid, draft, recordResponse);
  },
});

const UPDATED = 'Recurring task updated. Its current occurrence stays unchanged.';
const UNCHANGED = 'Nothing was changed: the recurring to-do already has these values.';

export const updateRecurringTask = defineTool({
  name: 'update_recurring_task',
  title: 'Update a recurring to-do',
  description: "Changes a recurring to-do's future occurrences; todo.update_task changes the current one.",
  rare: ['clear', 'timezone', 'interval', 'days', 'reminder_lead_minutes'],
  input: z.strictObject({
    recurring_task_id: shapes.recurringTaskId,
    title: shapes.title('New title').optional(),
    description: shapes.description('New description'),
    priority: shapes.priority('New priority').optional(),
    tags: shapes.fewTags('Replace the old tags').optional(),
    frequency: shapes.frequency('New frequency').optional(),
    ...shapes.recurrence,
    end_date: shapes.date('New last day').optional(),
    timezone: shapes.timezone,
    clear: clearArgument('description', 'end_date', 'reminder_lead_minutes'),
  }),
  output: shapes.writtenRecurringShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { recurring_task_id: 'recurring-xxx-001', frequency: 'WEEKLY' },
  response: ({ recurringTask, isChanged }: EditedRecurringTask) =>
    shapes.writtenRecurringResponse(recurringTask, isChanged ? UPDATED : UNCHANGED),
  handler: async ({ services, principal, recordResponse }, { recurring_task_id, clear, ...fields }) => {
    const { end_date, description, reminder_lead_minutes, ...others } = fields;
    const changed = clearedFields(clear);
    const edit = {
      ...others,
      description: changed('description', description),
      end_date: changed('end_date', shapes.dateOf(end_date)),
      reminder_lead_minutes: changed('reminder_lead_minutes', reminder_lead_minutes),
    };
    shapes.requireChange(edit, Object.keys(updateRecurringTask.input.shape).slice(1).join(', '));
    return services.recurringTasks.edit(principal.owner_uid, recurring_task_id, edit, recordResponse);
  },
});

export const deleteRecurringTask = defineTool({
  name: 'delete_recurring_task',
  title: 'End a recurring to-do',
  description: 'Ends a recurring to-do; its current occurrence stays (todo.delete_task removes it).',
  input: z.strictObject({ recurring_task_id: shapes.recurringTaskId }),
  output: shapes.writtenRecurringShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { recurring_task_id: 'recurring-xxx-001' },
  response: ({ recurringTask }: EditedRecurringTask) =>
    shapes.writtenRecurringResponse(
      recurringTask,
      `Recurring task '${recurringTask.title}' ended. Its current occurrence stays.`,
    ),
  handler: ({ services, principal, recordResponse }, { recurring_task_id }) =>
    services.recurringTasks.end(principal.owner_uid, recurring_task_id, recordResponse),
});

export const listRecurringTasks = defineTool({
  name: 'list_recurring_tasks',
  title: 'List recurring to-dos',
  description: 'Lists recurring to-dos, newest first.',
  input: z.strictObject({
    include_ended: z.boolean().default(false).describe('Include ended to-dos'),
    limit: pageLimit(),
    cursor,
  }),
  output: optionalFields({
    recurring_tasks: z.array(
      shapes.recurringTaskShape.extend({
        following_occurrences: z
          .array(z.iso.datetime())
          .optional()
          .describe('Due dates of the three following occurrences according to the recurrence rule.'),
      }),
    ),
    total: z.int(),
    ...pagesShape,
  }),
  ...shapes.reading,
  example: {},
  handler: async ({ services, principal }, { include_ended, ...asked }) => {
    const question = { include_ended };
    const page = timePageOf(question, asked);
    const found = await services.recurringTasks.list(principal.owner_uid, include_ended, page);
    const following = await services.recurringTasks.followingDates(found.items);
    const answer = (recurring: RecurringTask) => ({
      ...shapes.recurringTaskResponse(recurring),
      following_occurrences: optionalList(following.get(recurring.id)),
    });
    const { answers, end } = fittingPage(question, found, answer, ({ created_at }) => created_at);
    return { recurring_tasks: answers, total: found.total, ...pagesOf(found.total, asked), ...end };
  },
});
