import { realtimeDatabase, TASK_QUEUE } from '../../functions/src/kernel/realtime/database.ts';

/**
 * Forgets what can be claimed, of all workspaces: others leave tasks behind, and there may be no more than 1,000 where
 * somebody watches.
 */
export async function emptyQueueMirror(): Promise<void> {
  await (await realtimeDatabase()).ref(TASK_QUEUE).remove();
}
