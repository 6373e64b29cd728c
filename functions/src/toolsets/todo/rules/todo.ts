/** To-dos: what a person means to do. Source: the to-do specification; docs/semantics.md#to-dos. */

import { z } from 'zod/mini';
import { placeFields } from '../../../graph/rules/graphNode.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible } from '../../../kernel/hidden.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import type { Reminder } from './reminders/reminder.ts';

/** By rank, lowest first. */
export const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'] as const;

export type Priority = (typeof PRIORITIES)[number];

export const MAX_TITLE_LENGTH = 500;

export const MAX_DESCRIPTION_LENGTH = 5000;

/** How to-dos are compared where case does not count. Capitals have more letters (ß, SS) or fewer forms (Σ). */
export function caseFolded(text: string): string {
  return text.trim().normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** A to-do as tools answer it and as events tell of it. */
export function todoAnswer(todo: Todo) {
  return {
    id: todo.id,
    title: todo.title,
    ...(todo.description !== undefined && { description: todo.description }),
    ...(todo.due_date && { due_date: todo.due_date.toISOString() }),
    priority: todo.priority,
    tags: [...todo.tags],
    completed: todo.completed,
    created_at: todo.created_at.toISOString(),
    ...(todo.completed_at && { completed_at: todo.completed_at.toISOString() }),
    ...(todo.recurring_task_id !== undefined && { recurring_task_id: todo.recurring_task_id }),
  } satisfies JsonObject;
}

type TodoTexts = Pick<Todo, 'title' | 'description' | 'priority' | 'tags'>;

/** Of something new, the texts may be left out. Of an edit, what is left out stays, and null removes. */
export interface WrittenTexts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly priority?: Priority | undefined;
  /** In place of the tags that there are. */
  readonly tags?: readonly string[] | undefined;
}

const USUAL_TEXTS: TodoTexts = { title: '', priority: 'MEDIUM', tags: [] };

/** @throws MusterError VALIDATION_ERROR for tags */
export function checkedTexts(written: WrittenTexts, before: TodoTexts = USUAL_TEXTS): TodoTexts {
  const { description = before.description } = written;
  return {
    title: written.title?.trim() ?? before.title,
    ...(typeof description === 'string' && { description }),
    priority: written.priority ?? before.priority,
    tags: written.tags ? checkedTags(written.tags) : before.tags,
  };
}

/** How long ago a date may be that its caller still took for the future. */
const GRACE_MILLISECONDS = 60_000;

/** @param field the argument that names the date. @throws MusterError VALIDATION_ERROR where it was over a minute ago */
export function requireFuture(field: string, date: Date, now: Date): void {
  if (date.getTime() >= now.getTime() - GRACE_MILLISECONDS) return;
  throw new MusterError('VALIDATION_ERROR', `The ${field} is in the past.`, {
    field,
    value: date.toISOString(),
    reason: 'DATE_IN_THE_PAST',
    suggestion: 'Give a time that is still to come, in UTC or with an offset.',
  });
}

export const MAX_TAGS = 10;

export const MAX_TAG_LENGTH = 50;

/** Tags trimmed, each once whatever its case. @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED */
export function checkedTags(written: readonly string[]): readonly string[] {
  if (written.length > MAX_TAGS) throw tooManyTags();
  return addedTags([], written);
}

/** Adds tags to those that a to-do has. @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED */
export function addedTags(present: readonly string[], written: readonly string[]): readonly string[] {
  const tags = new Map(present.map((tag) => [caseFolded(tag), tag]));
  for (const tag of written.map((text) => text.trim())) {
    if (!isVisible(tag) || !hasAtMost(tag, MAX_TAG_LENGTH))
      throw invalid('tags', 'INVALID_TAG', `A tag has 1 to ${MAX_TAG_LENGTH} characters.`);
    if (!tags.has(caseFolded(tag))) tags.set(caseFolded(tag), tag);
  }
  if (tags.size > MAX_TAGS) throw tooManyTags();
  return [...tags.values()];
}

function tooManyTags(): MusterError {
  const suggestion = `A task has at most ${MAX_TAGS} tags; replace them with todo.update_task.`;
  const message = `More than ${MAX_TAGS} tags. Nothing was changed.`;
  return invalid('tags', 'MAX_TAGS_EXCEEDED', message, suggestion);
}

export const SORT_FIELDS = ['due_date', 'priority', 'created_at', 'completed_at'] as const;

export const SORT_ORDERS = ['asc', 'desc'] as const;

/** The ends of the range of due dates belong to it; a to-do without a due date is in no range. */
export interface TodoFilter {
  readonly owner_uid: string;
  readonly priority?: Priority | undefined;
  /** All of them, whatever their case. */
  readonly tags: readonly string[];
  readonly dueAfter?: Date | undefined;
  readonly dueBefore?: Date | undefined;
  readonly completed?: boolean | undefined;
}

/** Without the date that it is sorted by, a to-do comes last either way. Ties go by creation, then id. */
export interface TodoSort {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly order: (typeof SORT_ORDERS)[number];
}

/** The codes that the to-do specification, "Error Handling", adds to ours; they travel as reasons. */
export const TODO_CODES = [
  'TASK_NOT_FOUND',
  'DUPLICATE_TASK',
  'MAX_TAGS_EXCEEDED',
  'INVALID_FREQUENCY',
] as const;

/** An argument is not as it has to be. */
export function invalid(field: string, reason: string, message: string, suggestion?: string): MusterError {
  const details = { field, reason, ...(suggestion !== undefined && { suggestion }) };
  return new MusterError('VALIDATION_ERROR', message, details);
}

const HOW_TO_FIND = {
  Task: 'todo.list_tasks and todo.search_tasks tell the ids of your tasks.',
  'Recurring task': 'todo.list_recurring_tasks tells the ids of your recurring tasks.',
  Reminder: 'todo.list_reminders tells the ids of your reminders; todo.set_reminder makes one.',
};

/** Also for what belongs to somebody else. */
export function notFound(what: keyof typeof HOW_TO_FIND, id: string, userId: string): MusterError {
  const name = what.toLowerCase().replace(' ', '_');
  return new MusterError('NOT_FOUND', `${what} with ID '${id}' not found`, {
    field: `${name}_id`,
    value: id,
    reason: `${name.toUpperCase()}_NOT_FOUND`,
    suggestion: HOW_TO_FIND[what],
    about: { [`${name}_id`]: id, user_id: userId },
  });
}

export function alreadyCompleted({ id, completed_at }: Todo): MusterError {
  const when = completed_at ? ` at ${completed_at.toISOString()}` : '';
  return new MusterError('CONFLICT', `This task was already completed${when}. Nothing was changed.`, {
    field: 'task_id',
    value: id,
    reason: 'ALREADY_COMPLETED',
    about: { task_id: id },
  });
}

/** A to-do in the specification's words. The index of our own stands beside it. */
export const todoDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  due_date: z.nullable(timestamp),
  priority: z.enum(PRIORITIES),
  /** As written; no two are the same but for case. */
  tags: z.array(z.string()),
  completed: z.boolean(),
  completed_at: z.nullable(timestamp),
  created_at: timestamp,
  /** Where it is an occurrence of a recurring task: of which, and for which date. */
  recurring_task_id: z.nullable(z.string()),
  /** The calendar date that the rule means, `YYYY-MM-DD`, wherever the to-do itself was moved. */
  occurs_on: z.nullable(z.string()),
  /** How often it came back after it had been deleted. */
  restored: z.exactOptional(z.int()),
  ...placeFields,
  /** The task that was made of it for agents, the latest. */
  delegated_task_id: z._default(z.nullable(z.string()), null),
});

export const todoCodec = documentCodec(todoDocument);

export const todoFromDocument = todoCodec.fromDocument;

/** To-dos as the trail tells of them: without their index and what their last events reported. */
export const todoFields = fieldsCodec<Todo>(todoCodec.toDocument, todoFromDocument);

export type Todo = ReturnType<typeof todoFromDocument>;

/** What is read of a to-do; its index, which is longer, stays where it is. */
export const TODO_FIELDS: readonly string[] = Object.keys(todoDocument.shape);

export interface RemindedTodo extends Versioned<Todo> {
  readonly reminder?: Versioned<Reminder>;
  /** The to-do as its last event reported it; undefined where it has none. */
  readonly lastReported?: JsonObject;
  /** Tells whether its index is the one that its fields give, which takes a while. */
  isIndexCurrent(): boolean;
}
