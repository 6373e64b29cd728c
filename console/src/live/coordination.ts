/** Coordination queries that several screens use. */
import { counterDocument, sessionDocument, type Task, taskDocument, workspaceDocument } from './documents.ts';
import { useLive } from './live.ts';
import { usePaged } from './paged.ts';
import { merged } from './paging.ts';
import {
  blockedTasks,
  claimableTasks,
  closedTasks,
  countersOf,
  expiringTasks,
  HELD_STATUSES,
  heldTasks,
  redTasks,
  releasedTasks,
  sessionOf,
  stuckTasks,
  unfundedTasks,
  verifyingTasks,
  workspaceOf,
} from './queries.ts';
import type { DocumentsQuery } from './query.ts';
import { document, documents } from './sources.ts';
import type { Counts, Live, OpenParts, Paged } from './states.ts';

/** Workspace and session. The session is undefined while it is unknown, or if the workspace has no open session. */
export interface SessionScope {
  readonly here: string;
  readonly session: string | undefined;
}

/** Id of the open session; undefined if no session is open. */
export function useSessionId(workspace: string): Live<string | undefined> {
  const live = useLive(document(workspaceOf(workspace), workspaceDocument));
  return 'value' in live ? { ...live, value: live.value?.session ?? undefined } : live;
}

export function useSession({ here, session }: SessionScope) {
  return useLive(session === undefined ? undefined : document(sessionOf(here, session), sessionDocument));
}

/** Numbers of tasks by state, as the sum of the session's counters. */
export function useCounts({ here, session }: SessionScope): Live<Counts> {
  const live = useLive(session === undefined ? undefined : documents(countersOf(here, session), counterDocument));
  if (!('value' in live)) return live;
  const sum: Record<string, number> = {};
  for (const { counts } of live.value.rows)
    for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count;
  return { ...live, value: sum };
}

/** Returns the number of tasks that have one of the given states. */
export function countIn(counts: Live<Counts>, statuses: readonly string[]): number | undefined {
  if (!('value' in counts)) return undefined;
  return statuses.reduce((sum, status) => sum + (counts.value[status] ?? 0), 0);
}

export function useOpenParts(where: SessionScope): OpenParts {
  const counts = useCounts(where);
  const blocked = useBlockedTasks(where);
  const available = countIn(counts, ['available']);
  const claimable = available === undefined || blocked.count === undefined ? undefined : available - blocked.count;
  return {
    held: useTasks(where, heldTasks, { known: countIn(counts, HELD_STATUSES) }),
    claimable: useTasks(where, claimableTasks, { known: claimable }),
    blocked,
  };
}

/** Tasks that wait for dependencies or for a retry. The counters count them as available. */
export function useBlockedTasks(where: SessionScope): Paged<Task> {
  return useTasks(where, blockedTasks);
}

/** Open tasks: tasks in progress first, then the queue, then blocked tasks. */
export function useOpenTasks(where: SessionScope): Paged<Task> {
  const { held, claimable, blocked } = useOpenParts(where);
  return merged([held, claimable, blocked]);
}

export function useStuckTasks(where: SessionScope): Paged<Task> {
  return useTasks(where, stuckTasks);
}

export type ClosedStatus = 'done' | 'failed' | 'cancelled';

export function useClosedTasks(where: SessionScope, status: ClosedStatus): Paged<Task> {
  const known = countIn(useCounts(where), [status]);
  return useTasks(where, (here, session) => closedTasks(here, session, status), { known });
}

/** Open tasks that may not continue, because of a budget, a failed check, an expired lease or a missing verdict. */
export function useTroubledTasks(
  where: SessionScope,
): Readonly<Record<'certain' | 'expiring' | 'verifying', Paged<Task>>> {
  return {
    certain: merged([useTasks(where, unfundedTasks), useTasks(where, redTasks), useTasks(where, releasedTasks)]),
    expiring: useTasks(where, expiringTasks),
    verifying: useTasks(where, verifyingTasks),
  };
}

function useTasks(
  { here, session }: SessionScope,
  queryOf: (here: string, session: string) => DocumentsQuery,
  counted?: { readonly known: number | undefined },
): Paged<Task> {
  return usePaged(session === undefined ? undefined : queryOf(here, session), taskDocument, counted);
}
