import type { Occurrence } from '../recurrence/occurrence.ts';
import type { RecurrenceRule } from '../recurrence/rule.ts';
import type { Priority } from './todo.ts';

/** What makes to-dos again and again: `recurringTasks/{id}`. */
export interface RecurringTask {
  readonly id: string;
  readonly ownerUid: string;
  readonly title: string;
  readonly description?: string;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly rule: RecurrenceRule;
  readonly createdAt: Date;
  /** The last occurrence that was made. Only what ends this one makes another. */
  readonly latest: Occurrence;
  /** No more occurrences come: it was deleted, or the last one was done. */
  readonly endedAt?: Date;
}
