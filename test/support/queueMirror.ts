import { realtimeDatabase, TASK_QUEUE, WORKSPACE_QUEUES } from '../../functions/src/kernel/realtime/database.ts';

/** Clears the queue mirror of all workspaces: other tests leave tasks, and a watcher sees at most 1,000. */
export async function emptyQueueMirror(): Promise<void> {
  await (await realtimeDatabase()).ref().update({ [TASK_QUEUE]: null, [WORKSPACE_QUEUES]: null });
}
