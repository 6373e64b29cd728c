/** The order of the queue: priority, then deadline, what has none last, then creation, then id. */
import type { Task } from './task.ts';

export type QueueRank = Pick<Task, 'priority' | 'createdAt' | 'id'> & {
  readonly deadline?: Date | undefined;
};

export function compareInQueue(one: QueueRank, other: QueueRank): number {
  return (
    one.priority - other.priority ||
    compareDeadlines(one.deadline, other.deadline) ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    (one.id < other.id ? -1 : Number(one.id > other.id))
  );
}

function compareDeadlines(one: Date | undefined, other: Date | undefined): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  return one.getTime() - other.getTime();
}
