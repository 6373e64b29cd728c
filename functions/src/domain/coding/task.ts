import { MusterError } from '../errors.ts';
import type { Versioned } from '../store.ts';
import type { Task } from '../tasks/task.ts';
import type { CodingWork } from './work.ts';

export type CodingTask = Task & { readonly coding: CodingWork };

export function isCodingTask(task: Task): task is CodingTask {
  return task.coding !== undefined;
}

/** A coding task as the task's own machine has left it. */
export function asCodingTask(task: Task): CodingTask {
  if (isCodingTask(task)) return task;
  throw new Error(`Task ${task.id} has stopped being a coding task.`);
}

/** @throws MusterError NOT_FOUND unless it is a coding task of the workspace */
export function requireCodingTask(
  found: Versioned<Task> | undefined,
  taskId: string,
  workspace: string,
): Versioned<CodingTask> {
  const task = found?.value;
  if (found === undefined || task?.workspace !== workspace || !isCodingTask(task))
    throw codingTaskNotFound(taskId);
  return { value: task, version: found.version };
}

export function codingTaskNotFound(taskId: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no coding task "${taskId}" here.`, {
    field: 'taskId',
    value: taskId,
    suggestion: 'The resource task://list lists the coding tasks of this workspace.',
  });
}
