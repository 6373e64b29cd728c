/** The Realtime Database: queues by workspace, and what its security rules know of people, workspaces and agents. */

import { DEFAULT_WORKSPACE } from '../../functions/src/access/rules/principal.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import {
  changeNode,
  keysIn,
  presencePath,
  TASK_QUEUE,
  WORKSPACE_QUEUES,
} from '../../functions/src/kernel/realtime/database.ts';
import { inTime } from '../../functions/src/kernel/waiting.ts';
import { pagesOf } from '../operator/documents.ts';
import type { AgentsFound } from './agents.ts';
import { type Carrying, Count, forEach } from './carrying.ts';

const ANSWERING_MILLISECONDS = 30_000;

/** Its client waits for one that is away for ever. @throws Error where it does not answer */
export async function requireRealtime({ realtime }: Carrying): Promise<void> {
  const database = await realtime();
  const answer = database.ref('checks/migration').get();
  await inTime(answer, ANSWERING_MILLISECONDS, `The Realtime Database at ${database.ref().toString()}`).catch(
    () => {
      throw new Error(
        `The Realtime Database at ${database.ref().toString()} did not answer. Nothing was changed. Give --database-url.`,
      );
    },
  );
}

export async function carryRealtime(carrying: Carrying, { homes }: AgentsFound): Promise<void> {
  await carryAccess(carrying);
  await carryQueue(carrying);
  await carryPresence(carrying, homes);
}

/** As the triggers do of every change from now on. */
async function carryAccess({ database, services, say }: Carrying): Promise<void> {
  let people = 0;
  for await (const page of pagesOf(database.collection(COLLECTIONS.people).select()))
    await forEach(page, async ({ id }) => {
      await services.mirrorPerson(id);
      people += 1;
    });
  await services.mirrorWorkspaces();
  say(`People that the Realtime Database's rules know: ${people}.`);
}

/**
 * Tasks of other workspaces leave the default one's queue. What is in their queues already is mirrored again: the
 * version before, which may still run, does not take out of them what is claimed.
 */
async function carryQueue({ realtime, services, say }: Carrying): Promise<void> {
  const count = new Count();
  const database = await realtime();
  const queue = await database.ref(TASK_QUEUE).get();
  await forEach(keysIn(queue), async (taskId) => {
    const isElsewhere = queue.child(taskId).child('workspace').val() !== DEFAULT_WORKSPACE;
    if (isElsewhere) await services.mirrorQueuedTask(taskId);
    count.add(isElsewhere);
  });
  const others = await database.ref(WORKSPACE_QUEUES).get();
  for (const workspace of keysIn(others))
    await forEach(keysIn(others.child(workspace).child('queue')), (taskId) =>
      services.mirrorQueuedTask(taskId, { workspace }),
    );
  say(`Tasks in ${TASK_QUEUE}: ${count}.`);
}

/** An agent that is not in the default workspace is seen in its own alone. */
async function carryPresence({ realtime, say }: Carrying, homes: AgentsFound['homes']): Promise<void> {
  const count = new Count();
  const database = await realtime();
  await forEach([...homes], async ([agentId, workspace]) => {
    const isChanged = await changeNode(database.ref(presencePath(agentId)), (current) => {
      // Null may only mean that it was not read yet: what comes back unchanged is asked for again.
      if (current === null) return null;
      const isSaid = typeof current !== 'object' || 'workspace' in current;
      return isSaid ? undefined : { ...current, workspace };
    });
    const node = isChanged ? await database.ref(presencePath(agentId)).get() : undefined;
    if (node?.exists() !== false) count.add(isChanged);
  });
  say(`Presence of agents of other workspaces: ${count}.`);
}
