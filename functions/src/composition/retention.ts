/**
 * Retention of the ended work of every feature. Jobs of the sweep delete items whose retention is over, unless open
 * work refers to them. Source: docs/decisions/0044-rebuild-erase-retain.md.
 */
import type { DocumentReference, Firestore } from '@google-cloud/firestore';
import { type Agent, countedAgent, skillChanges } from '../agents/rules/agent.ts';
import { type GraphPorts, hasOpenAncestor } from '../graph/rules/linking.ts';
import { StaleWriteError, type Store, type Versioned } from '../kernel/commit.ts';
import { retryOnConflict } from '../kernel/concurrency.ts';
import { deleteFound } from '../kernel/firestore/client.ts';
import { ARCHIVE, COLLECTIONS, countersPath, heldFilesPath } from '../kernel/firestore/paths.ts';
import { readDue } from '../kernel/firestore/reading.ts';
import { STALE_CODES, statusCode } from '../kernel/firestore/verifiedCommit.ts';
import type { TimeCursor } from '../kernel/paging.ts';
import { Service } from '../kernel/ports.ts';
import { type RetentionDays, retentionJob, type SweepJob, sweepCounting } from '../kernel/sweep.ts';
import type { DatabaseMetricsLedger } from '../limits/store/ledgers.ts';
import type { TaskLogQueries } from '../toolsets/coding/rules/ports.ts';
import { type CoordinationPorts, isClosed, type Task, taskNode } from '../toolsets/coordination/index.ts';
import type { RunQueries } from '../toolsets/orchestration/rules/ports.ts';
import type { Run } from '../toolsets/orchestration/rules/runs/run.ts';
import type { Change } from './changes.ts';

/**
 * Collections to whose documents open work never refers. Each has a time field, which Firestore indexes
 * automatically, and a retention setting.
 */
const RECORDS = [
  { collection: COLLECTIONS.events, time: 'timestamp', kept: 'events' },
  { collection: COLLECTIONS.audit, time: 'timestamp', kept: 'events' },
  { collection: COLLECTIONS.mail, time: 'created_at', kept: 'events' },
  { collection: COLLECTIONS.trail, time: 'at', kept: 'trail' },
] as const;

/** Returns the jobs that delete records of ended work. */
export function recordRetention(database: Firestore, days: RetentionDays): readonly SweepJob[] {
  const records = RECORDS.map(({ collection, time, kept }) =>
    retentionJob(`${collection} kept`, days[kept], async (before, { isOver }) => {
      const old = database.collection(collection).where(time, '<=', before).orderBy(time);
      const removed = await deleteFound(old, isOver);
      // If this turn's time is over, the next turn of the sweep deletes the remaining documents.
      const left = isOver() ? { stoppedAt: { at: before, id: collection } } : {};
      return { counts: { removed }, isBehind: isOver(), ...left };
    }),
  );
  return [...records, graphRetention(database, days), archiveRetention(database, days)];
}

const BATCH = 100;

/** Returns the job that deletes graph trees if every item in them was deleted. */
function graphRetention(database: Firestore, days: RetentionDays): SweepJob {
  const nodes = database.collection(COLLECTIONS.graph);
  const below = ({ id }: DocumentReference) => nodes.where('ancestors', 'array-contains', id);
  return retentionJob('graph kept', days.tasks, (before, turn) => {
    const due = (after: TimeCursor | undefined) => {
      const page = { now: before, limit: BATCH, after };
      return readDue(nodes.where('deleted', '==', true), 'created_at', page, (snapshot) => [snapshot]);
    };
    return sweepCounting(turn, 'removed', due, async (snapshot) => {
      const stored: unknown = snapshot.get('ancestors');
      const above = Array.isArray(stored) ? stored.map((key) => nodes.doc(String(key))) : [];
      const those = above.length === 0 ? [] : await database.getAll(...above);
      if (those.some(({ exists }) => exists)) return 0;
      if (!(await below(snapshot.ref).where('deleted', '==', false).limit(1).get()).empty) return 0;
      // The root is deleted last. If an instance crashes before that, the next sweep still finds the tree.
      const removed = await deleteFound(below(snapshot.ref).where('deleted', '==', true));
      await snapshot.ref.delete();
      return removed + 1;
    });
  });
}

/** Returns the job that deletes archived sessions and their counters once their tasks and findings are deleted. */
function archiveRetention(database: Firestore, days: RetentionDays): SweepJob {
  const isEmpty = async (collection: string, session: string): Promise<boolean> =>
    (await database.collection(collection).where('session', '==', session).limit(1).select().get()).empty;
  return retentionJob('archive kept', days.tasks, (before, turn) => {
    const cleared = database.collectionGroup(ARCHIVE).where('cleared', '==', true);
    const due = cleared.where('archived_at', '<=', before).orderBy('archived_at').limit(BATCH);
    // Sessions archived at the same instant can be split across two pages. The second part is deleted an hour later.
    const old = async (after: TimeCursor | undefined) => {
      const { docs } = await (after === undefined ? due : due.startAfter(after.at)).get();
      const found = docs.map((item) => ({ item, place: { at: item.get('archived_at').toDate(), id: item.id } }));
      return { found, next: docs.length === BATCH ? found.at(-1)?.place : undefined };
    };
    return sweepCounting(turn, 'removed', old, async ({ ref, updateTime }) => {
      const isLeft = [COLLECTIONS.tasks, COLLECTIONS.discoveries].map((one) => isEmpty(one, ref.id));
      const workspace = ref.parent.parent?.id;
      if (workspace === undefined || (await Promise.all(isLeft)).includes(false)) return false;
      const { docs } = await database.collection(countersPath(workspace, ref.id)).select().get();
      const batch = database.batch().delete(ref, { lastUpdateTime: updateTime });
      batch.delete(database.doc(heldFilesPath(ref.id)));
      for (const counter of docs) batch.delete(counter.ref);
      return batch.commit().then(
        () => true,
        // The commit is stale because the session was restored in the meantime.
        (error: unknown) => {
          if (STALE_CODES.includes(statusCode(error))) return false;
          throw error;
        },
      );
    });
  });
}

interface RetentionPorts extends CoordinationPorts, GraphPorts {
  readonly store: Store<Change>;
  readonly retention: RetentionDays;
  readonly taskLogs: TaskLogQueries;
  readonly runs: RunQueries;
  readonly ledgers: { readonly metrics: Pick<DatabaseMetricsLedger, 'forget'> };
}

export class Retention extends Service<RetentionPorts> {
  readonly sweepJobs: readonly SweepJob[] = [
    retentionJob('tasks kept', this.ports.retention.tasks, (before, turn) => {
      const old = (after: TimeCursor | undefined) => this.ports.tasks.closedBefore(before, BATCH, after);
      return sweepCounting(turn, 'removed', old, ({ value: { id } }) =>
        this.attempt('task', id, () => this.removeTask(id, before)),
      );
    }),
    retentionJob('runs kept', this.ports.retention.runs, (before, turn) => {
      const old = (after: TimeCursor | undefined) => this.ports.runs.endedBefore(before, BATCH, after);
      return sweepCounting(turn, 'removed', old, (run) => this.attempt('run', run.value.id, () => this.removeRun(run)));
    }),
    retentionJob('logs kept', this.ports.retention.logs, async (before, turn) => {
      const counts = { removed: 0 };
      // A task's log has many chunks, but the task is checked only once.
      const seen = new Set<string>();
      for await (const taskId of this.ports.taskLogs.tasksWithOldLogs(before)) {
        if (turn.isOver()) return { counts, isBehind: true, stoppedAt: { at: before, id: taskId } };
        if (seen.has(taskId)) continue;
        seen.add(taskId);
        const isDeleted = await this.attempt('log', taskId, () => this.removeLog(taskId, before));
        counts.removed += Number(isDeleted);
      }
      return { counts, isBehind: false };
    }),
    retentionJob('agents kept', this.ports.retention.agents ?? 0, (before, turn) => {
      const due = (after: TimeCursor | undefined) => this.ports.agents.offlineTerminals(before, BATCH, after);
      return sweepCounting(turn, 'removed', due, (agent) =>
        this.attempt('agent', agent.value.id, () => this.removeAgent(agent)),
      );
    }),
  ];

  /** Deletes a terminal that holds no task. Its counts, skills and metrics are deleted too. */
  private async removeAgent({ value: agent, version }: Versioned<Agent>): Promise<boolean> {
    const { agents, store, ledgers } = this.ports;
    if (Object.keys(agent.held).length > 0) return false;
    if (await agents.hasCredential(agent.id)) return false;
    const withdrawn = skillChanges(agent, undefined);
    const ids = withdrawn.flatMap((change) => (change.kind === 'withdrawSkill' ? [change.id] : []));
    const skills = await agents.skillCounts(ids);
    await store.commit([
      { kind: 'removeAgent', agent, version },
      ...countedAgent(agent, undefined),
      ...skills.map(({ value: { id, agents: having }, version: at }): Change => {
        return having > 1 ? { kind: 'withdrawSkill', id } : { kind: 'removeSkill', id, version: at };
      }),
    ]);
    await ledgers.metrics.forget([agent.id]);
    return true;
  }

  /** Returns whether the item was deleted. Logs errors and does not throw, so that one item does not block others. */
  private async attempt(kind: string, id: string, remove: () => Promise<boolean>): Promise<boolean> {
    try {
      return await remove();
    } catch (error) {
      if (!(error instanceof StaleWriteError)) this.ports.log.error('not_removed', { kind, id, error });
      return false;
    }
  }

  /** Deletes a task with its log and results. Tasks that depend on each other may be deleted at the same time. */
  private removeTask(id: string, before: Date): Promise<boolean> {
    const { tasks, store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const task = await tasks.find(id);
      if (task?.value.completed_at === undefined || task.value.completed_at > before) return false;
      if (await this.isReferenced(task.value)) return false;
      const changes = await this.taskRemoval(task);
      await tasks.deleteBelow(id);
      await store.commit(changes);
      return true;
    });
  }

  /** A failed dependent can be retried, and then needs this task. A completed dependent cannot be retried. */
  private async isReferenced(task: Task): Promise<boolean> {
    const dependents = await this.ports.tasks.findAll(task.dependents);
    if (dependents.some((one) => one !== undefined && one.value.status !== 'done')) return true;
    return hasOpenAncestor(this.ports, { kind: 'task', id: task.id }, task);
  }

  private async taskRemoval({ value: task, version }: Versioned<Task>): Promise<Change[]> {
    const { tasks, sessions, clock } = this.ports;
    const { workspace, session, status } = task;
    const dependencies = await tasks.findAll(task.dependencies);
    // The session's last activity is kept, because the deletion of a task does not count as activity.
    const { lastActivity = task.completed_at ?? clock.now() } = await sessions.counters(workspace, session);
    return [
      { kind: 'removeTask', task, node: taskNode(task), version },
      { kind: 'count', workspace, session, by: { [status]: -1 }, at: lastActivity },
      ...dependencies.flatMap((one): Change[] => {
        if (one === undefined || !one.value.dependents.includes(task.id)) return [];
        return [{ kind: 'removeDependent', taskId: one.value.id, dependentId: task.id }];
      }),
    ];
  }

  private async removeRun({ value: run, version }: Versioned<Run>): Promise<boolean> {
    const { runs, store } = this.ports;
    if (await hasOpenAncestor(this.ports, { kind: 'run', id: run.id }, run)) return false;
    await runs.deleteBelow(run.id);
    await store.commit([{ kind: 'removeRun', run, version }]);
    return true;
  }

  /** Deletes the log of an ended task. The task's results are kept. */
  private async removeLog(taskId: string, before: Date): Promise<boolean> {
    const { tasks, taskLogs } = this.ports;
    const task = (await tasks.find(taskId))?.value;
    const isOpen = task !== undefined && !isClosed(task.status);
    if (isOpen || (task?.completed_at !== undefined && task.completed_at > before)) return false;
    await taskLogs.remove(taskId);
    return true;
  }
}
