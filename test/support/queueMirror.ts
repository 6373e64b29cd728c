import { realtimeDatabase, TASK_QUEUE, WORKSPACE_QUEUES } from '../../functions/src/kernel/realtime/database.ts';

/** Clears the queue mirrors of all workspaces, because other tests leave tasks, and a watch covers at most 1,000. */
export async function emptyQueueMirror(): Promise<void> {
  await (await realtimeDatabase()).ref().update({ [TASK_QUEUE]: null, [WORKSPACE_QUEUES]: null });
}
