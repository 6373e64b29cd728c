/** What happened to a task while it was worked on: `tasks/{taskId}/logs/{n}`. */
import type { JsonObject } from '../json.ts';

export interface TaskLogEntry {
  /** Says what the entry is about, so that the same told twice is one entry. */
  readonly id: string;
  readonly kind: 'check_failed';
  readonly at: Date;
  /** The details, as the kind has them: data, some of it written by others. */
  readonly details: JsonObject;
}
