import { realtimeDatabase, taskQueuePath } from '../../../functions/src/kernel/realtime/database.ts';
import { isRecord } from './clients.ts';

/** Returns the ids of the workspace's claimable tasks from their mirror in the Realtime Database. */
export async function mirrored(workspace: string): Promise<readonly string[]> {
  const snapshot = await (await realtimeDatabase()).ref(taskQueuePath(workspace)).get();
  const queue: unknown = snapshot.val();
  return isRecord(queue) ? Object.keys(queue) : [];
}
