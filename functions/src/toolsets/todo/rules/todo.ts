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

/** Normalizes case for comparisons. Upper case is needed for ß (SS) and for both lower-case forms of Σ. */
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

/** For a new to-do, omitted fields get defaults. In an edit, omitted fields stay, and null removes a value. */
export interface WrittenTexts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly priority?: Priority | undefined;
  /** Replaces all existing tags. */
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

/** Tolerance in milliseconds for dates that were in the future when the caller sent them. */
const GRACE_MS = 60_000;

/** @param field argument with the date. @throws MusterError VALIDATION_ERROR if the date is over a minute ago */
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

/** Trims tags and removes duplicates, ignoring case. @throws MusterError VALIDATION_ERROR; MAX_TAGS_EXCEEDED */
export function checkedTags(written: readonly string[]): readonly string[] {
  if (written.length > MAX_TAGS) throw tooManyTags();
  return addedTags([], written);
}

/** Adds tags to the existing ones. @throws MusterError VALIDATION_ERROR, also with the reason MAX_TAGS_EXCEEDED */
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
  const suggestion = `A to-do can have at most ${MAX_TAGS} tags. To replace tags, use todo.update_task.`;
  const message = `The to-do would have more than ${MAX_TAGS} tags. Nothing was changed.`;
  return invalid('tags', 'MAX_TAGS_EXCEEDED', message, suggestion);
}

export const SORT_FIELDS = ['due_date', 'priority', 'created_at', 'completed_at'] as const;
export const SORT_ORDERS = ['asc', 'desc'] as const;

/** Selects to-dos. Due-date ranges include both ends; a to-do without a due date is outside all ranges. */
export interface TodoFilter {
  readonly owner_uid: string;
  readonly priority?: Priority | undefined;
  /** The to-do must have all of these tags. Case is ignored. */
  readonly tags: readonly string[];
  readonly dueAfter?: Date | undefined;
  readonly dueBefore?: Date | undefined;
  readonly completed?: boolean | undefined;
}

/** To-dos without the date to sort by come last in both directions. Ties are ordered by creation time, then by id. */
export interface TodoSort {
  readonly by: (typeof SORT_FIELDS)[number];
  readonly order: (typeof SORT_ORDERS)[number];
}

/** Error codes that only the to-do specification ("Error Handling") defines. Muster returns them as `reason`. */
export const TODO_CODES = ['TASK_NOT_FOUND', 'DUPLICATE_TASK', 'MAX_TAGS_EXCEEDED', 'INVALID_FREQUENCY'] as const;

export function invalid(field: string, reason: string, message: string, suggestion?: string): MusterError {
  return new MusterError('VALIDATION_ERROR', message, { field, reason, suggestion });
}

const HOW_TO_FIND = {
  Task: 'todo.list_tasks and todo.search_tasks return the ids of your to-dos.',
  'Recurring task': 'todo.list_recurring_tasks returns the ids of your recurring to-dos.',
  Reminder: 'todo.list_reminders returns the ids of your reminders; todo.set_reminder creates one.',
};

/** Returns the error for an unknown id, or for an item of another owner, so that its existence is not revealed. */
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

/** A stored to-do, with the fields of the to-do specification. The document also contains a separate search index. */
export const todoDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  due_date: z.nullable(timestamp),
  priority: z.enum(PRIORITIES),
  /** Tags as entered. No two differ only in case. */
  tags: z.array(z.string()),
  completed: z.boolean(),
  completed_at: z.nullable(timestamp),
  created_at: timestamp,
  recurring_task_id: z.nullable(z.string()),
  /** Date of the occurrence by the recurrence rule, `YYYY-MM-DD`, even if the to-do's due date was changed. */
  occurs_on: z.nullable(z.string()),
  /** Number that differs for each restoration of the to-do after a deletion. */
  restored: z.exactOptional(z.int()),
  ...parentFields,
  /** Id of the latest task to which the to-do was delegated. */
  delegated_task_id: z._default(z.nullable(z.string()), null),
  /** Result of that task, if it completed the to-do. */
  delegated_result: z._default(z.nullable(z.string()), null),
});

export const todoCodec = documentCodec(todoDocument);
export const todoFromDocument = todoCodec.fromDocument;

/** Fields of to-dos that the audit log records: without the search index and the last reported state. */
export const todoFields = fieldsCodec<Todo>(todoCodec.toDocument, todoFromDocument);

export type Todo = ReturnType<typeof todoFromDocument>;

/** Fields of a to-do that queries read: all except the search index, which is large. */
export const TODO_FIELDS: readonly string[] = Object.keys(todoDocument.shape);

export interface RemindedTodo extends Versioned<Todo> {
  readonly reminder?: Versioned<Reminder>;
  /** State that the last event of the to-do reported; undefined if it has no events. */
  readonly lastReported?: JsonObject;
  /** Returns whether the stored search index matches the fields. This takes long, so it is computed on demand. */
  isIndexCurrent(): boolean;
}
