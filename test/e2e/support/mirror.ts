/** The mirror of claimable tasks in the Realtime Database, and the events that keep it. */
import { realtimeDatabase, taskQueuePath } from '../../../functions/src/kernel/realtime/database.ts';
import { isRecord } from './clients.ts';
import { documentEvent } from './delivery/cloudEvents.ts';
import { deliverToTrigger, PROJECT } from './emulator.ts';

/** The ids of a workspace's tasks that the mirror shows. */
export async function mirrored(workspace: string): Promise<readonly string[]> {
  const snapshot = await (await realtimeDatabase()).ref(taskQueuePath(workspace)).get();
  const queue: unknown = snapshot.val();
  return isRecord(queue) ? Object.keys(queue) : [];
}

/** Delivers the event of a written task once more, as Eventarc may at any time. */
export async function deliverTaskWritten(taskId: string): Promise<void> {
  await deliverToTrigger('mirrorTaskQueue', documentEvent(PROJECT, 'written', `tasks/${taskId}`, {}));
}
