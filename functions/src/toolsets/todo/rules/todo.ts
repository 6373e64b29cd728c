/** To-dos: what a person means to do. Source: spec/todo.md; docs/semantics.md#to-dos. */
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Place } from '../../../kernel/paging.ts';

/** By rank, lowest first. */
export const PRIORITIES = ['LOW', 'MEDIUM', 'HIGH'] as const;

export type Priority = (typeof PRIORITIES)[number];

export const USUAL_PRIORITY: Priority = 'MEDIUM';

export const MAX_TITLE_LENGTH = 500;

export const MAX_DESCRIPTION_LENGTH = 5000;

export interface Todo {
  readonly id: string;
  readonly ownerUid: string;
  readonly title: string;
  readonly description?: string;
  readonly dueDate?: Date;
  readonly priority: Priority;
  /** As written; no two are the same but for case. */
  readonly tags: readonly string[];
  readonly completed: boolean;
  readonly completedAt?: Date;
  readonly createdAt: Date;
  /** Where it is an occurrence of a recurring task: of which, and for which date. */
  readonly occurrence?: TodoOccurrence;
}

interface TodoOccurrence {
  readonly recurringTaskId: string;
  /** The calendar date that the rule means, `YYYY-MM-DD`, wherever the to-do itself was moved. */
  readonly on: string;
}

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
    ...(todo.dueDate && { due_date: todo.dueDate.toISOString() }),
    priority: todo.priority,
    tags: [...todo.tags],
    completed: todo.completed,
    created_at: todo.createdAt.toISOString(),
    ...(todo.completedAt && { completed_at: todo.completedAt.toISOString() }),
    ...(todo.occurrence && { recurring_task_id: todo.occurrence.recurringTaskId }),
  } satisfies JsonObject;
}

/** How long ago a date may be that its caller still took for the future. */
const GRACE_MILLISECONDS = 60_000;

/**
 * @param field the argument that names the date
 * @throws MusterError VALIDATION_ERROR where it was more than a minute ago
 */
export function requireFuture(field: string, date: Date, now: Date): void {
  if (date.getTime() < now.getTime() - GRACE_MILLISECONDS) throw inThePast(field, date);
}

export const MAX_TAGS = 10;

export const MAX_TAG_LENGTH = 50;

/**
 * Tags trimmed, in their order, each once whatever its case.
 * @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED for more than ten
 */
export function checkedTags(written: readonly string[]): readonly string[] {
  if (written.length > MAX_TAGS) throw tooManyTags();
  return addedTags([], written);
}

/**
 * Adds tags to those that a to-do has.
 * @throws MusterError VALIDATION_ERROR, with the reason MAX_TAGS_EXCEEDED for more than ten
 */
export function addedTags(present: readonly string[], written: readonly string[]): readonly string[] {
  const tags = new Map(present.map((tag) => [caseFolded(tag), tag]));
  for (const tag of written.map((text) => text.trim())) {
    if (tag === '' || tag.length > MAX_TAG_LENGTH) throw badTag();
    if (!tags.has(caseFolded(tag))) tags.set(caseFolded(tag), tag);
  }
  if (tags.size > MAX_TAGS) throw tooManyTags();
  return [...tags.values()];
}

function badTag(): MusterError {
  return new MusterError('VALIDATION_ERROR', `A tag has 1 to ${MAX_TAG_LENGTH} characters.`, {
    field: 'tags',
    reason: 'INVALID_TAG',
  });
}

function tooManyTags(): MusterError {
  return new MusterError('VALIDATION_ERROR', `More than ${MAX_TAGS} tags. Nothing was changed.`, {
    field: 'tags',
    reason: 'MAX_TAGS_EXCEEDED',
    suggestion: `A task has at most ${MAX_TAGS} tags; replace them with update_task.`,
  });
}

// What lists of to-dos are asked for.

export const SORT_FIELDS = ['due_date', 'priority', 'created_at', 'completed_at'] as const;

export type SortField = (typeof SORT_FIELDS)[number];

export const SORT_ORDERS = ['asc', 'desc'] as const;

type SortOrder = (typeof SORT_ORDERS)[number];

/** The ends of the range of due dates belong to it; a to-do without a due date is in no range. */
export interface TodoFilter {
  readonly ownerUid: string;
  readonly priority?: Priority | undefined;
  /** All of them, whatever their case. */
  readonly tags: readonly string[];
  readonly dueAfter?: Date | undefined;
  readonly dueBefore?: Date | undefined;
  readonly completed?: boolean | undefined;
}

/** Without the date that it is sorted by, a to-do comes last either way. Ties go by creation, then id. */
export interface TodoSort {
  readonly by: SortField;
  readonly order: SortOrder;
}

export interface TodoPage {
  readonly limit: number;
  readonly after?: Place | undefined;
}

// What can be wrong with a to-do. Source: spec/todo.md, "Error Handling".

/** The codes that spec/todo.md adds to ours; they travel as reasons. */
export const TODO_CODES = [
  'TASK_NOT_FOUND',
  'DUPLICATE_TASK',
  'MAX_TAGS_EXCEEDED',
  'INVALID_FREQUENCY',
] as const;

/** Also for what belongs to somebody else. */
export function todoNotFound(taskId: string, userId: string): MusterError {
  return new MusterError('NOT_FOUND', `Task with ID '${taskId}' not found`, {
    field: 'task_id',
    value: taskId,
    reason: 'TASK_NOT_FOUND',
    suggestion: 'list_tasks and search_tasks tell the ids of your tasks.',
    about: { task_id: taskId, user_id: userId },
  });
}

export function recurringTaskNotFound(id: string, userId: string): MusterError {
  return new MusterError('NOT_FOUND', `Recurring task with ID '${id}' not found`, {
    field: 'recurring_task_id',
    value: id,
    reason: 'RECURRING_TASK_NOT_FOUND',
    suggestion: 'list_recurring_tasks tells the ids of your recurring tasks.',
    about: { recurring_task_id: id, user_id: userId },
  });
}

export function duplicateTask({ id, title, dueDate }: Todo): MusterError {
  const due = dueDate ? `the due date ${dueDate.toISOString()}` : 'no due date';
  return new MusterError('CONFLICT', `An open task with this title and ${due} already exists.`, {
    field: 'title',
    value: title,
    reason: 'DUPLICATE_TASK',
    suggestion: 'Use that one, or choose another title or due date.',
    about: { existing_task_id: id },
  });
}

export function alreadyCompleted({ id, completedAt }: Todo): MusterError {
  const when = completedAt ? ` at ${completedAt.toISOString()}` : '';
  return new MusterError('CONFLICT', `This task was already completed${when}. Nothing was changed.`, {
    field: 'task_id',
    value: id,
    reason: 'ALREADY_COMPLETED',
    about: { task_id: id },
  });
}

export function inThePast(field: string, date: Date): MusterError {
  return new MusterError('VALIDATION_ERROR', `The ${field} is in the past.`, {
    field,
    value: date.toISOString(),
    reason: 'DATE_IN_THE_PAST',
    suggestion: 'Give a time that is still to come, in UTC or with an offset.',
  });
}

export function noWords(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'There is no word to search for.', {
    field: 'query',
    reason: 'NO_WORDS',
    suggestion: 'Give at least one letter or digit.',
  });
}

export function tooManyWords(most: number): MusterError {
  return new MusterError('VALIDATION_ERROR', `A search has at most ${most} words.`, {
    field: 'query',
    reason: 'TOO_MANY_WORDS',
    suggestion: 'Leave out words: all of them must be in a task for it to be found.',
  });
}
