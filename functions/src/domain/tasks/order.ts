/** The order of the queue: priority, then deadline, what has none last, then creation, then id. */
import type { Task } from './task.ts';

export function compareInQueue(one: Task, other: Task): number {
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
