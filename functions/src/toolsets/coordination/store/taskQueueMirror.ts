/**
 * The mirror of what can be claimed now: `tasks/queue/{taskId}`, as spec/network.md's firebase.subscribe
 * example watches it. Only the mirroring trigger writes it.
 */

import type { Database } from 'firebase-admin/database';
import { queuedTaskPath } from '../../../kernel/realtime/paths.ts';
import { unlessUnreadable } from '../../../kernel/unreadable.ts';
import { priorityWord, type Task, taskType } from '../rules/task.ts';
import type { TaskReader } from './tasks.ts';

/** Somebody else's change ends the loop in a moment; this ends it when something is wrong. */
const MAX_ATTEMPTS = 10;

export class TaskQueueMirror {
  private readonly database: () => Promise<Database>;
  private readonly tasks: TaskReader;

  constructor(database: () => Promise<Database>, tasks: TaskReader) {
    this.database = database;
    this.tasks = tasks;
  }

  /**
   * Makes the mirror show the task as it is now. Events come late, twice and out of order, so none is
   * believed: the task is read, written, and read again until it has not changed meanwhile. Whoever writes
   * last has then seen the latest. Nobody can claim a task that cannot be read, so it is not shown.
   */
  async refresh(taskId: string): Promise<void> {
    const reference = (await this.database()).ref(queuedTaskPath(taskId));
    let before = await unlessUnreadable(this.tasks.find(taskId));
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await reference.set(before ? queueEntry(before.value) : null);
      const after = await unlessUnreadable(this.tasks.find(taskId));
      if (after?.version === before?.version) return;
      before = after;
    }
    throw new Error(`Task ${taskId} never stood still for its mirror.`);
  }
}

function queueEntry(task: Task): Record<string, unknown> | null {
  if (task.status !== 'available' || task.blockers > 0) return null;
  return {
    id: task.id,
    type: taskType(task),
    priority: priorityWord(task.priority),
    description: task.description,
    workspace: task.workspace,
    required_capabilities: [...task.requiredCapabilities],
    created_at: task.createdAt.toISOString(),
    ...(task.deadline && { deadline: task.deadline.toISOString() }),
  };
}
