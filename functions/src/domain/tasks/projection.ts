/** The task's state in coordination's words. Source: docs/semantics.md#one-model. */
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

/** The type of a task whose creator names none. */
export const USUAL_TYPE = 'coordination';

/** The type of the tasks that runners do. */
export const CODING_TYPE = 'coding';

/** A type that a creator names: a word, with digits and dashes in it if need be. */
export const TYPE_NAME = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;

export const MAX_TYPE_LENGTH = 50;

export function taskType({ coding, type = USUAL_TYPE }: Pick<Task, 'coding' | 'type'>): string {
  return coding === undefined ? type : CODING_TYPE;
}
