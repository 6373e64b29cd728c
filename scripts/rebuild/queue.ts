/**
 * Rebuilds the copy of each workspace's claimable tasks in the Realtime Database. The trigger uses the same code to
 * copy a task, and reads the task again after writing. Therefore, trigger and rebuild can run at the same time.
 */
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { TASK_QUEUE, taskQueuePath, WORKSPACE_QUEUES } from '../../functions/src/kernel/realtime/database.ts';
import { queueEntries } from '../../functions/src/toolsets/coordination/store/queue.ts';
import { forEach, pagesOf } from '../operator/documents.ts';
import { childrenOf, isStoredAs, Progress, type Rebuilding } from './rebuilding.ts';

export async function rebuildQueue(rebuilding: Rebuilding): Promise<void> {
  const tasks = new Progress('Tasks without a holder', rebuilding);
  const available = rebuilding.database.collection(COLLECTIONS.tasks).where('status', '==', 'available');
  for await (const page of pagesOf(available.select()))
    await forEach(page, async ({ id }) => tasks.add(await mirrorAgain(rebuilding, id, undefined)));
  tasks.end();

  const shown = new Progress('Queue entries', rebuilding);
  const { realtime } = rebuilding;
  await followShown(rebuilding, TASK_QUEUE, undefined, shown);
  // One workspace per page, because the node of a workspace contains its whole queue.
  for await (const [found] of childrenOf(realtime, WORKSPACE_QUEUES, 1)) {
    const workspace = found?.key ?? undefined;
    if (workspace !== undefined) await followShown(rebuilding, taskQueuePath(workspace), workspace, shown);
  }
  shown.end();
}

/** Updates all entries of a queue, because their tasks may have been claimed or deleted since they were added. */
async function followShown(
  rebuilding: Rebuilding,
  path: string,
  workspace: string | undefined,
  shown: Progress,
): Promise<void> {
  for await (const page of childrenOf(rebuilding.realtime, path))
    await forEach(page, async ({ key }) => {
      if (key !== null) shown.add(await mirrorAgain(rebuilding, key, workspace));
    });
}

/**
 * Updates the queue entry of one task.
 * @param workspace workspace of the queue that contains the entry, unless that is the default workspace
 * @returns whether the entry was wrong
 */
async function mirrorAgain(
  { realtime, ports, services, isDry }: Rebuilding,
  taskId: string,
  workspace: string | undefined,
): Promise<boolean> {
  const event = workspace === undefined ? undefined : { workspace };
  const wanted = Object.entries(await queueEntries(ports.tasks, taskId, event));
  const right = await Promise.all(
    wanted.map(async ([path, entry]) => isStoredAs(await realtime.ref(path).get(), entry)),
  );
  if (right.every((isRight) => isRight)) return false;
  if (!isDry) await services.mirrorQueuedTask(taskId, event);
  return true;
}
