/** The task's state in coordination's words. Source: design, section 1. */
import type { TaskStatus } from './task.ts';

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

/** A priority in words: critical 1-2, high 3-4, normal 5-6, low 7-10. */
export function priorityWord(priority: number): 'critical' | 'high' | 'normal' | 'low' {
  if (priority <= 2) return 'critical';
  if (priority <= 4) return 'high';
  return priority <= 6 ? 'normal' : 'low';
}
