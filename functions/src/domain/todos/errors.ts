/** What can be wrong with a to-do. Source: spec/todo.md, "Error Handling". */
import { MusterError } from '../errors.ts';
import type { Todo } from './todo.ts';

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
