/**
 * Rebuilds counters from the counted documents: tasks and findings per session, agents per workspace and per skill.
 * Measures the difference between a counter and its documents in one snapshot of the database, and adds it to the
 * counter. Concurrent commits do not change that difference, because each changes documents and counters together.
 */
import { FieldPath, type Query } from '@google-cloud/firestore';
import { workspaceFromDocument } from '../../functions/src/access/rules/workspace.ts';
import { type AgentCount, agentCountFromDocument, sumAgents } from '../../functions/src/agents/rules/agent.ts';
import { DEFAULT_WORKSPACE } from '../../functions/src/identity/rules/principal.ts';
import { StaleWriteError } from '../../functions/src/kernel/commit.ts';
import { retryOnConflict } from '../../functions/src/kernel/concurrency.ts';
import {
  ARCHIVE,
  agentCountsPath,
  COLLECTIONS,
  countersPath,
  queueShardsPath,
  workspacePath,
} from '../../functions/src/kernel/firestore/paths.ts';
import { increments } from '../../functions/src/kernel/firestore/store.ts';
import { STALE_CODES, statusCode } from '../../functions/src/kernel/firestore/verifiedCommit.ts';
import {
  type Counter,
  counterFromDocument,
  sumCounters,
} from '../../functions/src/toolsets/coordination/rules/session.ts';
import { TASK_STATUSES, taskFromDocument } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { countedBy } from '../../functions/src/toolsets/coordination/rules/taskChanges.ts';
import { OPEN } from '../../functions/src/toolsets/coordination/store/queries.ts';
import { FIRST_COUNTER } from '../../functions/src/toolsets/coordination/store/writers.ts';
import { forEach, pagesOf, readable } from '../operator/documents.ts';
import { RebuildLease } from './lease.ts';
import { Progress, type Rebuilding, unread } from './rebuilding.ts';
import { rebuildSkills } from './skills.ts';

export async function rebuildCounters(rebuilding: Rebuilding): Promise<void> {
  const { database, isDry } = rebuilding;
  const lease = new RebuildLease(database);
  /** Takes or renews the lease. Called before each correction. */
  const hold = async (): Promise<void> => {
    if (!isDry) await lease.hold();
  };
  const workspaces = new Progress('Counters of agents per workspace', rebuilding);
  const sessions = new Progress('Counters of sessions', rebuilding);
  const gates = new Progress('Queue versions of open sessions', rebuilding);
  await hold();
  try {
    for (const workspace of await workspacesOf(rebuilding)) {
      await hold();
      workspaces.add(await countAgents(rebuilding, workspace));
      gates.add(await createQueueShards(rebuilding, workspace));
      for await (const session of sessionsOf(rebuilding, workspace)) {
        await hold();
        sessions.add(await countSession(rebuilding, workspace, session));
      }
    }
    workspaces.end();
    sessions.end();
    gates.end();
    await rebuildSkills(rebuilding);
  } finally {
    if (!isDry) await lease.release();
  }
}

async function workspacesOf({ database, ports }: Rebuilding): Promise<readonly string[]> {
  const stored = await database.collection(COLLECTIONS.workspaces).listDocuments();
  const named = Object.keys(await ports.people.workspaces());
  return [...new Set([DEFAULT_WORKSPACE, ...named, ...stored.map(({ id }) => id)])].sort();
}

/** Yields the open session and the archived ones. */
async function* sessionsOf({ database, say }: Rebuilding, workspace: string): AsyncGenerator<string, void, undefined> {
  const document = database.doc(workspacePath(workspace));
  const opened = await database.collection(COLLECTIONS.workspaces).where(FieldPath.documentId(), '==', workspace).get();
  for (const { value } of readable(opened.docs, workspaceFromDocument, unread(say)))
    if (value.session !== undefined) yield value.session;
  for await (const page of pagesOf(document.collection(ARCHIVE).select())) for (const { id } of page) yield id;
}

/** Corrects a workspace's counter of agents. @returns whether the counter was wrong */
async function countAgents({ database, ports, isDry, say }: Rebuilding, workspace: string): Promise<boolean> {
  const agents = database.collection(COLLECTIONS.agents);
  const within = agents.where('workspaces', 'array-contains', workspace);
  const withPart = agents.where(new FieldPath('parts', workspace), 'in', ['leader', 'worker']);
  const kinds: Readonly<Record<keyof AgentCount, Query>> = {
    total: withPart,
    leaders: agents.where('leads', 'array-contains', workspace),
    active: withPart.where('status', '==', 'active'),
    registered: within,
    online: within.where('status', '==', 'active'),
  };
  const lack = await database.runTransaction(
    async (snapshot) => {
      const shards = await snapshot.get(database.collection(agentCountsPath(workspace)));
      const counted = sumAgents(readable(shards.docs, agentCountFromDocument, unread(say)).map(({ value }) => value));
      const lacking = async (kind: keyof AgentCount): Promise<number> =>
        (await snapshot.get(kinds[kind].count())).data().count - counted[kind];
      const [total, leaders, active, registered, online] = await Promise.all([
        lacking('total'),
        lacking('leaders'),
        lacking('active'),
        lacking('registered'),
        lacking('online'),
      ]);
      return { total, leaders, active, registered, online };
    },
    { readOnly: true },
  );
  if (Object.values(lack).every((count) => count === 0)) return false;
  if (!isDry) await ports.store.commit([{ kind: 'countAgents', workspace, by: lack }]);
  return true;
}

/**
 * Creates missing queue version shards, without which no task can become claimable in an open session. A new shard
 * contains the current time, so that every instance reads the queue again.
 * @returns whether any shard was missing
 */
async function createQueueShards({ database, ports, isDry }: Rebuilding, workspace: string): Promise<boolean> {
  return retryOnConflict(ports.randomness, async () => {
    const open = await ports.sessions.current(workspace).catch(() => undefined);
    if (open === undefined) return false;
    const { session, sessionVersion: version } = open;
    const { count } = (await database.collection(queueShardsPath(workspace, session.id)).count().get()).data();
    if (count >= session.spread) return false;
    if (!isDry) await ports.store.commit([{ kind: 'shardSession', session, before: 0, version }]);
    return true;
  });
}

/**
 * Corrects a session's counters. Replaces the shards of earlier releases, which lack upper bounds, by one shard with
 * all counts. If an earlier release writes such a shard in the meantime, the session is counted again.
 * @returns whether any counter was wrong or any shard was replaced
 */
export function countSession(
  { database, ports, isDry, say }: Pick<Rebuilding, 'database' | 'ports' | 'isDry' | 'say'>,
  workspace: string,
  session: string,
): Promise<boolean> {
  const of = (collection: string) => database.collection(collection).where('session', '==', session);
  const counters = database.collection(countersPath(workspace, session));
  return retryOnConflict(ports.randomness, async () => {
    const { by, outdated, lastActivity } = await database.runTransaction(
      async (snapshot) => {
        const shards = readable((await snapshot.get(counters)).docs, counterFromDocument, unread(say));
        const outdated = shards.filter(({ value }) => value.may_be_late === undefined);
        const current = sumCounters(shards.filter((shard) => !outdated.includes(shard)).map(({ value }) => value));
        const lacking = async (all: Query, counted: number) => (await snapshot.get(all.count())).data().count - counted;
        const by: Partial<Record<Counter, number>> = {
          discoveries: await lacking(of(COLLECTIONS.discoveries), current.counts.discoveries),
          may_be_late: -current.mostLate,
          may_be_blocked: -current.mostBlocked,
        };
        for (const status of TASK_STATUSES)
          by[status] = await lacking(of(COLLECTIONS.tasks).where('status', '==', status), current.counts[status]);
        const open = of(COLLECTIONS.tasks).where('status', 'in', OPEN);
        for await (const page of pagesOf(open, (query) => snapshot.get(query))) {
          const tasks = readable(page, taskFromDocument, unread(say)).map(({ value }) => value);
          const { may_be_late = 0, may_be_blocked = 0 } = countedBy([], tasks);
          by.may_be_late = (by.may_be_late ?? 0) + may_be_late;
          by.may_be_blocked = (by.may_be_blocked ?? 0) + may_be_blocked;
        }
        return { by, outdated, lastActivity: sumCounters(shards.map(({ value }) => value)).lastActivity };
      },
      { readOnly: true },
    );
    const isWrong = outdated.length > 0 || Object.values(by).some((count) => count !== 0);
    if (isDry || !isWrong) return isWrong;
    const at = lastActivity ?? (await latestActivity([of(COLLECTIONS.tasks), of(COLLECTIONS.discoveries)]));
    if (outdated.length === 0)
      return ports.store.commit([{ kind: 'count', workspace, session, by, at }]).then(() => true);
    const { may_be_late = 0, may_be_blocked = 0, ...counts } = by;
    const { waits } = sumCounters(outdated.map(({ value }) => value));
    const batch = database.batch();
    for (const { snapshot } of outdated) batch.delete(snapshot.ref, { lastUpdateTime: snapshot.updateTime });
    const fields = { counts: increments(counts), waits: increments(waits), last_activity: at };
    const bounds = increments({ may_be_late, may_be_blocked });
    batch.set(counters.doc(String(FIRST_COUNTER)), { ...fields, ...bounds }, { merge: true });
    await batch.commit().catch((error: unknown) => {
      throw STALE_CODES.includes(statusCode(error)) ? new StaleWriteError({ cause: error }) : error;
    });
    return true;
  });
}

const TIMES = ['created_at', 'claimed_at', 'started_at', 'completed_at'] as const;

/** Returns the time of the latest activity in a session's documents, for a session without counters. */
async function latestActivity(queries: readonly Query[]): Promise<Date> {
  let latest = 0;
  for (const query of queries)
    for await (const page of pagesOf(query.select(...TIMES)))
      await forEach(page, async (snapshot) => {
        for (const time of TIMES) latest = Math.max(latest, snapshot.get(time)?.toMillis() ?? 0);
      });
  return new Date(latest);
}
