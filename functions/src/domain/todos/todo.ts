/** To-dos: what a person means to do. Source: spec/todo.md; docs/semantics.md#to-dos. */
import type { JsonObject } from '../json.ts';

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

export interface TodoOccurrence {
  readonly recurringTaskId: string;
  /** The calendar date that the rule means, `YYYY-MM-DD`, wherever the to-do itself was moved. */
  readonly on: string;
}

/** What of a to-do its owner may change. */
export interface TodoContent {
  readonly title: string;
  readonly description?: string;
  readonly dueDate?: Date;
  readonly priority: Priority;
  readonly tags: readonly string[];
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
