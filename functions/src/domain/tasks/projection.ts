/** The task's state in coordination's words. Source: design, section 1. */
import type { Task, TaskStatus } from './task.ts';

export const COORDINATION_STATUSES = ['available', 'claimed', 'in_progress', 'done', 'failed'] as const;

export type CoordinationStatus = (typeof COORDINATION_STATUSES)[number];

const STORED: Readonly<Record<CoordinationStatus, readonly TaskStatus[]>> = {
  available: ['available'],
  claimed: ['claimed'],
  in_progress: ['in_progress', 'waiting'],
  done: ['done'],
  failed: ['failed', 'cancelled'],
};

/** The stored states that one of coordination's words stands for. */
export function storedStatuses(status: CoordinationStatus): readonly TaskStatus[] {
  return STORED[status];
}

export function coordinationStatus(status: TaskStatus): CoordinationStatus {
  if (status === 'waiting') return 'in_progress';
  return status === 'cancelled' ? 'failed' : status;
}

export const PRIORITY_WORDS = ['critical', 'high', 'normal', 'low'] as const;

export type PriorityWord = (typeof PRIORITY_WORDS)[number];

/** The priorities that a word stands for. */
export const PRIORITY_RANGES = {
  critical: { from: 1, to: 2 },
  high: { from: 3, to: 4 },
  normal: { from: 5, to: 6 },
  low: { from: 7, to: 10 },
} as const satisfies Record<PriorityWord, { from: number; to: number }>;

export function priorityWord(priority: number): PriorityWord {
  return PRIORITY_WORDS.find((word) => priority <= PRIORITY_RANGES[word].to) ?? 'low';
}

export const TASK_TYPES = ['coordination', 'coding'] as const;

/** The kinds of work that the queue has. */
export type TaskType = (typeof TASK_TYPES)[number];

export function taskType({ coding }: Task): TaskType {
  return coding === undefined ? 'coordination' : 'coding';
}
