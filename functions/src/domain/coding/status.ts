/** The task's state in coding's words. Source: docs/semantics.md#one-model. */
import type { TaskStatus } from '../tasks/task.ts';

export const CODING_STATUSES = ['pending', 'in_progress', 'completed', 'failed'] as const;

export type CodingStatus = (typeof CODING_STATUSES)[number];

const WORDS: Readonly<Record<TaskStatus, CodingStatus>> = {
  available: 'pending',
  claimed: 'pending',
  in_progress: 'in_progress',
  waiting: 'in_progress',
  done: 'completed',
  failed: 'failed',
  cancelled: 'failed',
};

export function codingStatus(status: TaskStatus): CodingStatus {
  return WORDS[status];
}
