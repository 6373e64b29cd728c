import {
  realtimeDatabase,
  TASK_QUEUE,
  WORKSPACE_QUEUES,
} from '../../functions/src/kernel/realtime/database.ts';

/**
 * Forgets what can be claimed, of all workspaces: others leave tasks behind, and there may be no more than 1,000 where
 * somebody watches.
 */
export async function emptyQueueMirror(): Promise<void> {
  await (await realtimeDatabase()).ref().update({ [TASK_QUEUE]: null, [WORKSPACE_QUEUES]: null });
}
