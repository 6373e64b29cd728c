/**
 * Rebuilds counters from the counted documents: tasks and findings per session, agents per workspace and per skill.
 * Measures the difference between a counter and its documents in one snapshot of the database, and adds it to the
 * counter. Concurrent commits do not change that difference, because each changes documents and counters together.
 */
import { FieldPath, type Query } from '@google-cloud/firestore';
import { workspaceFromDocument } from '../../functions/src/access/rules/workspace.ts';
import type { AgentCount } from '../../functions/src/agents/rules/agent.ts';
import { agentCountFromDocument, sumAgents } from '../../functions/src/agents/store/agents.ts';
import { DEFAULT_WORKSPACE } from '../../functions/src/identity/rules/principal.ts';
import { retryOnConflict } from '../../functions/src/kernel/concurrency.ts';
import {
  ARCHIVE,
  agentCountsPath,
  COLLECTIONS,
  countersPath,
  queueShardsPath,
  workspacePath,
} from '../../functions/src/kernel/firestore/paths.ts';
import {
  type Counter,
  counterFromDocument,
  sumCounters,
} from '../../functions/src/toolsets/coordination/rules/session.ts';
import { TASK_STATUSES } from '../../functions/src/toolsets/coordination/rules/task.ts';
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

const COUNTERS: readonly Counter[] = [...TASK_STATUSES, 'discoveries'];

/** Corrects a session's counters. @returns whether any counter was wrong */
async function countSession(
  { database, ports, isDry, say }: Rebuilding,
  workspace: string,
  session: string,
): Promise<boolean> {
  const of = (collection: string) => database.collection(collection).where('session', '==', session);
  const { by, lastActivity } = await database.runTransaction(
    async (snapshot) => {
      const shards = await snapshot.get(database.collection(countersPath(workspace, session)));
      const read = readable(shards.docs, counterFromDocument, unread(say)).map(({ value }) => value);
      const counted = sumCounters(read);
      const lacking = await Promise.all(
        COUNTERS.map(async (counter) => {
          const all =
            counter === 'discoveries'
              ? of(COLLECTIONS.discoveries)
              : of(COLLECTIONS.tasks).where('status', '==', counter);
          return [counter, (await snapshot.get(all.count())).data().count - counted.counts[counter]] as const;
        }),
      );
      return { by: lacking.filter(([, count]) => count !== 0), lastActivity: counted.lastActivity };
    },
    { readOnly: true },
  );
  if (by.length === 0) return false;
  if (!isDry) {
    const at = lastActivity ?? (await latestActivity([of(COLLECTIONS.tasks), of(COLLECTIONS.discoveries)]));
    await ports.store.commit([{ kind: 'count', workspace, session, by: Object.fromEntries(by), at }]);
  }
  return true;
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
