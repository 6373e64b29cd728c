/** What lists of to-dos are asked for. */
import type { Priority } from './todo.ts';

export const SORT_FIELDS = ['due_date', 'priority', 'created_at', 'completed_at'] as const;

export type SortField = (typeof SORT_FIELDS)[number];

export const SORT_ORDERS = ['asc', 'desc'] as const;

export type SortOrder = (typeof SORT_ORDERS)[number];

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

/** The place after which a list goes on: what the last item is sorted by, and its id. */
export interface TodoPlace {
  readonly order: readonly number[];
  readonly id: string;
}

export interface TodoPage {
  readonly limit: number;
  readonly after?: TodoPlace | undefined;
}
