/** What several screens ask of a workspace's coordination. */

import { counterDocument, sessionDocument, type Task, taskDocument, workspaceDocument } from './documents.ts';
import { type Live, useLive } from './live.ts';
import { closedTasks, countersOf, openTasks, sessionOf, stuckTasks, workspaceOf } from './queries.ts';
import { document, documents, type Rows } from './sources.ts';

/** The id of the session that is open; undefined where there is none. */
export function useSessionId(workspace: string): Live<string | undefined> {
  const live = useLive(document(workspaceOf(workspace), workspaceDocument));
  return 'value' in live ? { ...live, value: live.value?.session ?? undefined } : live;
}

export function useSession(workspace: string, session: string | undefined) {
  return useLive(
    session === undefined ? undefined : document(sessionOf(workspace, session), sessionDocument),
  );
}

/** How many tasks there are in each state: the sum over all shards. */
export function useCounts(
  workspace: string,
  session: string | undefined,
): Live<Readonly<Record<string, number>>> {
  const live = useLive(
    session === undefined ? undefined : documents(countersOf(workspace, session), counterDocument),
  );
  if (!('value' in live)) return live;
  const sum: Record<string, number> = {};
  for (const { counts } of live.value.rows)
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count;
  return { ...live, value: sum };
}

export function useOpenTasks(workspace: string, session: string | undefined): Live<Rows<Task>> {
  return useLive(session === undefined ? undefined : documents(openTasks(workspace, session), taskDocument));
}

export function useStuckTasks(workspace: string, session: string | undefined): Live<Rows<Task>> {
  return useLive(session === undefined ? undefined : documents(stuckTasks(workspace, session), taskDocument));
}

export function useClosedTasks(
  workspace: string,
  session: string | undefined,
  status: 'done' | 'failed' | 'cancelled',
): Live<Rows<Task>> {
  return useLive(
    session === undefined ? undefined : documents(closedTasks(workspace, session, status), taskDocument),
  );
}
