/** Failures, each with the tasks that it holds up. */
import type { Task } from '../../live/documents.ts';

export interface Cause {
  readonly id: string;
  /** The failed task; undefined if it is not among the loaded failures. */
  readonly task: Task | undefined;
  readonly heldUp: readonly Task[];
}

export function causesOf(failed: readonly Task[], stuck: readonly Task[]): readonly Cause[] {
  const heldUp = new Map<string, Task[]>(failed.map(({ id }) => [id, []]));
  for (const task of stuck) {
    const cause = causeOf(task);
    if (cause !== undefined) heldUp.set(cause, [...(heldUp.get(cause) ?? []), task]);
  }
  return [...heldUp].map(([id, tasks]) => ({ id, task: failed.find((one) => one.id === id), heldUp: tasks }));
}

/** Returns the id of the task whose failure keeps a task from starting. */
export function causeOf({ stuck_by, failed_dependencies: [failed] }: Task): string | undefined {
  return stuck_by ?? failed;
}
