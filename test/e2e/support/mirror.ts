import { realtimeDatabase, taskQueuePath } from '../../../functions/src/kernel/realtime/database.ts';
import { isRecord } from './clients.ts';

/** Returns the ids of a workspace's tasks in the mirror of claimable tasks in the Realtime Database. */
export async function mirrored(workspace: string): Promise<readonly string[]> {
  const snapshot = await (await realtimeDatabase()).ref(taskQueuePath(workspace)).get();
  const queue: unknown = snapshot.val();
  return isRecord(queue) ? Object.keys(queue) : [];
}
