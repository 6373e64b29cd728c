/** To-dos of people. Source: the to-do specification; docs/semantics.md#to-dos. */

import { z } from 'zod/mini';
import { parentFields } from '../../../graph/rules/graphNode.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, fieldsCodec, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import type { Reminder } from './reminders/reminder.ts';

/** Priorities, lowest first. */
export const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'] as const;

export type Priority = (typeof PRIORITIES)[number];

export const MAX_TITLE_LENGTH = 500;

export const MAX_DESCRIPTION_LENGTH = 5000;

/** Folds case. Upper case is included because of letters that grow (ß, SS) or have several lower-case forms (Σ). */
export function caseFolded(text: string): string {
  return text.trim().normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** Returns a to-do in the format of tools and events. */
export function todoResponse(todo: Todo) {
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

/** For a new to-do, all are optional. For an edit, omitted fields stay and null removes. */
export interface WrittenTexts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly priority?: Priority | undefined;
  /** Replaces the existing tags. */
  readonly tags?: readonly string[] | undefined;
}

const DEFAULT_TEXTS: TodoTexts = { title: '', priority: 'MEDIUM', tags: [] };

/** @throws MusterError VALIDATION_ERROR for invalid tags */
export function checkedTexts(written: WrittenTexts, before: TodoTexts = DEFAULT_TEXTS): TodoTexts {
  const { description = before.description } = written;
  return {
    title: written.title?.trim() ?? before.title,
    ...(typeof description === 'string' && { description }),
    priority: written.priority ?? before.priority,
    tags: written.tags ? checkedTags(written.tags) : before.tags,
  };
}

/** Tolerance for dates that were in the future when the caller sent them. */
const GRACE_MS = 60_000;

/** @param field argument with the date. @throws MusterError VALIDATION_ERROR if it is over a minute in the past */
export function requireFuture(field: string, date: Date, now: Date): void {
  if (date.getTime() >= now.getTime() - GRACE_MS) return;
  throw new MusterError('VALIDATION_ERROR', `${field} is in the past.`, {
    field,
    value: date.toISOString(),
    reason: 'DATE_IN_THE_PAST',
    suggestion: 'Use a future time, in UTC or with an offset.',
  });
}

export const MAX_TAGS = 10;

export const MAX_TAG_LENGTH = 50;

/** Trims tags and removes duplicates, ignoring case. @throws MusterError VALIDATION_ERROR, MAX_TAGS_EXCEEDED */
export function checkedTags(written: readonly string[]): readonly string[] {
  if (written.length > MAX_TAGS) throw tooManyTags();
  return addedTags([], written);
}

/** Adds tags to the existing ones. @throws MusterError VALIDATION_ERROR with the reason MAX_TAGS_EXCEEDED */
export function addedTags(present: readonly string[], written: readonly string[]): readonly string[] {
  const tags = new Map(present.map((tag) => [caseFolded(tag), tag]));
  for (const tag of written.map((text) => text.trim())) {
    if (!isVisible(tag) || !hasAtMost(tag, MAX_TAG_LENGTH))
      throw invalid('tags', 'INVALID_TAG', `A tag must have 1 to ${MAX_TAG_LENGTH} characters.`);
    if (!tags.has(caseFolded(tag))) tags.set(caseFolded(tag), tag);
  }
  if (tags.size > MAX_TAGS) throw tooManyTags();
  return [...tags.values()];
}

function tooManyTags(): MusterError {
  const suggestion = `A to-do has at most ${MAX_TAGS} tags. Replace them with todo.update_task.`;
  const message = `More than ${MAX_TAGS} tags. Nothing was changed.`;
  return invalid('tags', 'MAX_TAGS_EXCEEDED', message, suggestion);
}

export const SORT_FIELDS = ['due_date', 'priority', 'created_at', 'completed_at'] as const;

export const SORT_ORDERS = ['asc', 'desc'] as const;

/** Due-date ranges include both ends. A to-do without a due date is outside all ranges. */
export interface TodoFilter {
  readonly owner_uid: string;
  readonly priority?: Priority | undefined;
  /** All of them, ignoring case. */
  readonly tags: readonly string[];
  readonly dueAfter?: Date | undefined;
  readonly dueBefore?: Date | undefined;
  readonly completed?: boolean | undefined;
}

/** To-dos without the sorted date come last in both orders. Ties are ordered by creation, then id. */
export interface TodoSort {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly order: (typeof SORT_ORDERS)[number];
}

/** Error codes added by the to-do specification, "Error Handling". They are returned as reasons. */
export const TODO_CODES = ['TASK_NOT_FOUND', 'DUPLICATE_TASK', 'MAX_TAGS_EXCEEDED', 'INVALID_FREQUENCY'] as const;

/** Returns the error for an invalid argument. */
export function invalid(field: string, reason: string, message: string, suggestion?: string): MusterError {
  const details = { field, reason, ...(suggestion !== undefined && { suggestion }) };
  return new MusterError('VALIDATION_ERROR', message, details);
}

const HOW_TO_FIND = {
  Task: 'todo.list_tasks and todo.search_tasks return the ids of your to-dos.',
  'Recurring task': 'todo.list_recurring_tasks returns the ids of your recurring to-dos.',
  Reminder: 'todo.list_reminders returns the ids of your reminders; todo.set_reminder creates one.',
};

/** Also returned for another owner's objects. */
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
  return new MusterError('CONFLICT', `This to-do was already completed${when}. Nothing was changed.`, {
    field: 'task_id',
    value: id,
    reason: 'ALREADY_COMPLETED',
    about: { task_id: id },
  });
}

/** A stored to-do, with the fields of the specification. Our index is a separate field of the document. */
export const todoDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  due_date: z.nullable(timestamp),
  priority: z.enum(PRIORITIES),
  /** As entered; distinct ignoring case. */
  tags: z.array(z.string()),
  completed: z.boolean(),
  completed_at: z.nullable(timestamp),
  created_at: timestamp,
  /** Recurring to-do of an occurrence. */
  recurring_task_id: z.nullable(z.string()),
  /** Nominal date of the occurrence, `YYYY-MM-DD`, even if the to-do itself was moved. */
  occurs_on: z.nullable(z.string()),
  /** Changes each time the to-do is restored after a deletion. */
  restored: z.exactOptional(z.int()),
  ...parentFields,
  /** The latest task created for it. */
  delegated_task_id: z._default(z.nullable(z.string()), null),
});

export const todoCodec = documentCodec(todoDocument);

export const todoFromDocument = todoCodec.fromDocument;

/** Audit log fields of to-dos, without the index and the last reported state. */
export const todoFields = fieldsCodec<Todo>(todoCodec.toDocument, todoFromDocument);

export type Todo = ReturnType<typeof todoFromDocument>;

/** The fields to read of a to-do, without its larger index. */
export const TODO_FIELDS: readonly string[] = Object.keys(todoDocument.shape);

export interface RemindedTodo extends Versioned<Todo> {
  readonly reminder?: Versioned<Reminder>;
  /** The state that the last event reported; undefined without events. */
  readonly lastReported?: JsonObject;
  /** Returns whether the stored index matches the fields. Slow. */
  isIndexCurrent(): boolean;
}
