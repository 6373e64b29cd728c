/** Arguments and outputs shared by the to-do tools. Source: the to-do specification. */
import { z } from 'zod';
import { NODE_STATUSES } from '../../../graph/rules/graphNode.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { idOf } from '../../../kernel/ids.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import { listedAs } from '../../../mcp/jsonSchema.ts';
import {
  optionalFields,
  textUpTo,
  toolsFor,
  type WritingHints,
  wholeNumber,
  writing as writingAs,
} from '../../../mcp/tool.ts';
import type { TodoServices } from '../create.ts';
import { FREQUENCIES, MAX_INTERVAL, type RecurringTask } from '../rules/recurring/recurrenceRule.ts';
import type { StartedRecurrence } from '../rules/recurring/recurringTasks.ts';
import { MAX_LEAD_MINUTES, type Reminder } from '../rules/reminders/reminder.ts';
import { reminderResponse } from '../rules/reminders/reminders.ts';
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_TAGS,
  MAX_TITLE_LENGTH,
  PRIORITIES,
  type Todo,
  todoResponse,
} from '../rules/todo.ts';
import type { EditedOutcome } from '../rules/todos.ts';

export { reading } from '../../../mcp/tool.ts';

export const defineTool = toolsFor<TodoServices>();
export const taskId = idOf('a task').describe('Task ID');
export const recurringTaskId = idOf('a recurring task').describe('Recurring task ID');

export const title = (description: string) =>
  z
    .string()
    .refine(isVisible, 'expected some text')
    .refine((text) => hasAtMost(text, MAX_TITLE_LENGTH), `expected at most ${MAX_TITLE_LENGTH} characters`)
    .describe(description);

export const description = (text: string) => textUpTo(MAX_DESCRIPTION_LENGTH).optional().describe(text);

const instant = z.iso
  .datetime({ offset: true, abort: true })
  .refine(
    (text) => new Date(text).getTime() > 0 && new Date(text).getUTCFullYear() <= 9999,
    'expected a date from 1970 to 9999',
  );

export const date = (text: string) => instant.describe(text);

/** Date argument that accepts null. Its listed schema omits null, as the to-do specification does. */
export const dateOrNull = (text: string) =>
  listedAs({ type: 'string', format: 'date-time' }, instant.nullable()).describe(text);

export const priority = (text: string) => z.enum(PRIORITIES).describe(text);

export const tags = (text: string) => z.array(z.string()).describe(text);

/** The handler checks the maximum, because the to-do specification has the separate error code MAX_TAGS_EXCEEDED. */
export const fewTags = (text: string) => tags(text).meta({ maxItems: MAX_TAGS });

/** Converts a date argument. Undefined and null are returned unchanged. */
export function dateOf<Absent extends null | undefined>(text: string | Absent): Date | Absent {
  return typeof text === 'string' ? new Date(text) : text;
}

const time = z.iso.datetime();

export const delegatedShape = optionalFields({
  task_id: z.string(),
  workspace: z.string(),
  status: z.enum(NODE_STATUSES),
  done: z.int().describe('Number of completed items among `things`.'),
  things: z.int(),
  attempts: z.number(),
  cost_usd: z.number(),
  result: z.string().describe('Result of the task, once it has completed the to-do.'),
});

/** In the to-do specification, none of these fields is required. */
export const taskShape = optionalFields({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  due_date: time,
  priority: z.string(),
  tags: z.array(z.string()),
  completed: z.boolean(),
  created_at: time,
  completed_at: time,
  recurring_task_id: z.string().describe('The recurring to-do of this occurrence.'),
  delegated: delegatedShape.describe('Progress of a delegated to-do.'),
});

export const writtenShape = optionalFields({ success: z.boolean(), task: taskShape, message: z.string() });

export const occurrenceShape = optionalFields({ id: z.string(), title: z.string(), due_date: time });

export function writtenResponse(todo: Todo, message: string) {
  return { success: true, task: todoResponse(todo), message };
}

/** Properties of tools that change to-dos. All roles may change their own to-dos, but read-only agents may not. */
export const writing = (hints: WritingHints) => ({ ...writingAs('viewer', hints), agentRole: 'worker' as const });

/** Properties of tools that set a field of a to-do. */
export const setting = { output: writtenShape, ...writing({ destructiveHint: false, idempotentHint: true }) };

/** @throws MusterError VALIDATION_ERROR if the edit sets no field */
export function requireChange(edit: Readonly<Record<string, unknown>>, names: string): void {
  if (Object.values(edit).some((value) => value !== undefined)) return;
  throw new MusterError('VALIDATION_ERROR', 'Nothing to update.', {
    reason: 'NOTHING_TO_CHANGE',
    suggestion: `Set at least one of ${names}.`,
  });
}

/** @param done message for the case that something was changed */
export function editResponse({ todo, changed }: EditedOutcome, done: string) {
  return writtenResponse(todo, changed.length === 0 ? 'Nothing was changed: the to-do has these values.' : done);
}

/** Returns the next occurrence, and a sentence that reports it. */
export function following(next: Todo | undefined) {
  const sentence = next?.due_date ? ` Next occurrence created for ${next.due_date.toISOString()}` : '';
  return { sentence, ...(next && { next_occurrence: next }) };
}

/** The handler checks the value, because the to-do specification has the separate error code INVALID_FREQUENCY. */
export const frequency = (text: string) =>
  z
    .string()
    .meta({ enum: [...FREQUENCIES] })
    .describe(text);

/** Arguments that refine a frequency: every second week, on weekdays, the first Friday, the last day of the month. */
export const recurrence = {
  interval: wholeNumber(1, MAX_INTERVAL).optional().describe('2: every second day, week or month'),
  days: z
    .array(z.string())
    .max(7)
    .optional()
    .describe('WEEKLY: MO to SU. MONTHLY: 15; 1FR first, -1FR last Friday; -1 last day'),
  reminder_lead_minutes: wholeNumber(0, MAX_LEAD_MINUTES).optional().describe('Default: your preference'),
};

export const timezone = textUpTo(100).optional().describe('IANA time zone of the wall-clock time; default: UTC');

export const recurringTaskShape = optionalFields({
  id: z.string(),
  title: z.string(),
  frequency: z.string(),
  start_date: time,
  end_date: time,
  interval: z.int(),
  days: z.array(z.string()),
  reminder_lead_minutes: z.int(),
  next_occurrence: time.describe('Due date of the current occurrence according to the recurrence rule.'),
  description: z.string(),
  priority: z.string(),
  tags: z.array(z.string()),
  timezone: z.string(),
  created_at: time,
  ended_at: time,
});

/** Returns a recurring to-do for a response, whose schema removes the fields that callers do not see. */
export function recurringTaskResponse(recurring: RecurringTask) {
  return { ...recurring, next_occurrence: recurring.ended_at === undefined ? recurring.latest_due : undefined };
}

export function writtenRecurringResponse(recurring: RecurringTask, message: string) {
  return { success: true, recurring_task: recurringTaskResponse(recurring), message };
}

export function startedResponse({ recurringTask: task, lastDue }: StartedRecurrence) {
  const last = lastDue ? `, last on ${lastDue.toISOString()}` : '';
  const message = `Recurring task '${task.title}' created. First occurrence on ${task.latest_due.toISOString()}${last}`;
  return writtenRecurringResponse(task, message);
}

export const writtenRecurringShape = optionalFields({
  success: z.boolean(),
  recurring_task: recurringTaskShape,
  message: z.string(),
});

export const reminderId = idOf('a reminder').describe('From todo.list_reminders');

/** In the to-do specification, none of these fields is required. */
export const reminderShape = optionalFields({
  id: z.string(),
  task_id: z.string(),
  task_title: z.string(),
  remind_at: time,
  sent: z.boolean(),
  sent_at: time.describe('Time at which the reminder was sent.'),
  late: z.boolean().describe('Whether the reminder was sent more than 2 minutes late.'),
});

export const setShape = optionalFields({ success: z.boolean(), reminder: reminderShape, message: z.string() });

export function setReminderResponse(reminder: Reminder) {
  const message = `The reminder is set to ${reminder.remind_at.toISOString()}.`;
  return { success: true, reminder: reminderResponse(reminder), message };
}
