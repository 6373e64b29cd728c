/** Arguments and answers that the to-do tools share. Source: spec/todo.md. */
import { z } from 'zod';
import { idOf } from '../../domain/ids.ts';
import { MAX_TAGS } from '../../domain/todos/tags.ts';
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_TITLE_LENGTH,
  PRIORITIES,
  type Todo,
  todoAnswer,
} from '../../domain/todos/todo.ts';
import { clearable } from '../../mcp/tool.ts';

export const taskId = idOf('a task').describe('Task ID');

export const recurringTaskId = idOf('a recurring task').describe('Recurring task ID');

export const title = (description: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', 'expected some text')
    .refine((text) => text.length <= MAX_TITLE_LENGTH, `expected at most ${MAX_TITLE_LENGTH} characters`)
    .describe(description);

const descriptionText = z
  .string()
  .refine(
    (text) => text.length <= MAX_DESCRIPTION_LENGTH,
    `expected at most ${MAX_DESCRIPTION_LENGTH} characters`,
  );

export const description = (text: string) => descriptionText.optional().describe(text);

export const clearableDescription = clearable(descriptionText)
  .optional()
  .describe('New description; null removes it');

const instant = z.iso
  .datetime({ offset: true, abort: true })
  .refine(
    (text) => new Date(text).getTime() > 0 && new Date(text).getUTCFullYear() <= 9999,
    'expected a date from 1970 to 9999',
  );

export const date = (text: string) => instant.describe(text);

export const clearableDate = (text: string) => clearable(instant).describe(text);

export const priority = (text: string) => z.enum(PRIORITIES).describe(text);

/** How many there may be is checked where it has a code of its own: MAX_TAGS_EXCEEDED. */
export const fewTags = (text: string) => z.array(z.string()).meta({ maxItems: MAX_TAGS }).describe(text);

export const tagFilter = (text: string) => z.array(z.string()).optional().describe(text);

/** A date as handlers take it: left out stays left out, null stays null. */
export function dateOf(text: string): Date;
export function dateOf(text: string | undefined): Date | undefined;
export function dateOf(text: string | null | undefined): Date | null | undefined;
export function dateOf(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}

const time = z.iso.datetime();

/** The contract requires nothing of an answer. */
export const taskShape = z
  .object({
    id: z.string(),
    title: z.string(),
    description: z.string(),
    due_date: time,
    priority: z.string(),
    tags: z.array(z.string()),
    completed: z.boolean(),
    created_at: time,
    completed_at: time,
    recurring_task_id: z.string().describe('The recurring task that it is an occurrence of.'),
  })
  .partial();

/** What tools that write answer. */
export const writtenShape = z
  .object({ success: z.boolean(), task: taskShape, message: z.string() })
  .partial();

export function occurrenceAnswer({ id, title: text, dueDate }: Todo) {
  return { id, title: text, ...(dueDate && { due_date: dueDate.toISOString() }) };
}

export const occurrenceShape = z.object({ id: z.string(), title: z.string(), due_date: time }).partial();

export function writtenAnswer(todo: Todo, message: string) {
  return { success: true, task: todoAnswer(todo), message };
}

export const writing = { readOnlyHint: false, openWorldHint: false } as const;

export const reading = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
