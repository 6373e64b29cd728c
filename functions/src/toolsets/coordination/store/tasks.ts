/** How tasks are found and written. */
import { FieldPath, FieldValue, type Firestore, type Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { COLLECTIONS, taskLogPath, taskPath } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import { type DuePage, type DueQuery, readDue } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { Batch, Page, Position, Slice } from '../../../kernel/paging.ts';
import { compareInQueue, type Task, type TaskChanges, type TaskStatus } from '../rules/task.ts';
import { taskFromDocument, taskToDocument } from './documents.ts';

/** The most alternatives that one `in` filter takes. */
const MAX_ALTERNATIVES = 30;

const HELD: readonly TaskStatus[] = ['claimed', 'in_progress', 'waiting'];

export class FirestoreTaskReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  async find(taskId: string): Promise<Versioned<Task> | undefined> {
    return this.documents.findVersioned(await this.database.doc(taskPath(taskId)).get(), taskFromDocument);
  }

  /** In the order asked; the place of an unknown id is undefined, and of a task that cannot be read. */
  async findAll(taskIds: readonly string[]): Promise<readonly (Versioned<Task> | undefined)[]> {
    if (taskIds.length === 0) return [];
    const snapshots = await this.database.getAll(
      ...taskIds.map((taskId) => this.database.doc(taskPath(taskId))),
    );
    return snapshots.map((snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument)[0]);
  }

  /** Those whose ids begin so, by id. */
  async startingWith(beginning: string): Promise<readonly Versioned<Task>[]> {
    return this.all(beginningWith(this.tasks, beginning));
  }

  /** Those of a session that are open and whose ids begin so, by id. */
  openStartingWith(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]> {
    const open = this.tasks.where('session', '==', session).where('status', 'in', ['available', ...HELD]);
    return this.first(beginningWith(open, beginning), limit);
  }

  /** Of what the agent has claimed otherwise than as a runner, and not started, the oldest claim. */
  async notStarted(session: string, agentId: string): Promise<Task | undefined> {
    const claimed = this.tasks
      .where('session', '==', session)
      .where('claimed_by', '==', agentId)
      .where('status', '==', 'claimed')
      .where('claimed_by_runner', '==', false);
    return (await this.first(claimed.orderBy('claimed_at'), 1))[0]?.value;
  }

  /** The first claimable tasks that require one of these sets of capabilities, in the order of the queue. */
  async claimable(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
    type?: string,
  ): Promise<readonly Versioned<Task>[]> {
    const inSession = this.tasks.where('session', '==', session);
    const ready = (type === undefined ? inSession : inSession.where('type', '==', type))
      .where('status', '==', 'available')
      .where('blockers', '==', 0);
    const chunks: string[][] = [];
    for (let start = 0; start < capabilityKeys.length; start += MAX_ALTERNATIVES) {
      chunks.push(capabilityKeys.slice(start, start + MAX_ALTERNATIVES));
    }
    const found = await Promise.all(
      chunks.flatMap((keys) => {
        const satisfied =
          keys.length === 1
            ? ready.where('capability_key', '==', keys[0])
            : ready.where('capability_key', 'in', keys);
        const walks = [withDeadline(satisfied), withoutRegardToDeadline(satisfied)];
        return walks.map((walk) => this.first(walk, limit));
      }),
    );
    const byId = new Map(found.flat().map((task) => [task.value.id, task]));
    return [...byId.values()].sort((a, b) => compareInQueue(a.value, b.value)).slice(0, limit);
  }

  /** Tasks that are not closed and were due by `now`, longest ago first. */
  async late(session: string, now: Date, limit: number): Promise<readonly Task[]> {
    const found = await this.first(this.dueBy(session, now).orderBy('deadline'), limit);
    return found.map(({ value }) => value);
  }

  async countLate(session: string, now: Date): Promise<number> {
    return (await this.dueBy(session, now).count().get()).data().count;
  }

  /** The task whose backoff ends first. */
  async firstBackoff(session: string): Promise<Versioned<Task> | undefined> {
    const waiting = this.tasks
      .where('session', '==', session)
      .where('status', '==', 'available')
      .where('retry_at', '>', new Date(0));
    return (await this.first(waiting.orderBy('retry_at'), 1))[0];
  }

  /** By creation, oldest first. */
  async list(session: string, statuses: readonly TaskStatus[] | undefined, page: Page): Promise<Slice<Task>> {
    const inSession = this.tasks.where('session', '==', session);
    const matching = statuses === undefined ? inSession : inSession.where('status', 'in', [...statuses]);
    return this.documents.slice(matching, 'created_at', 'asc', page, taskFromDocument);
  }

  /** Done tasks by completion, oldest first. */
  async listDone(session: string, page: Page): Promise<Slice<Task>> {
    const done = this.tasks.where('session', '==', session).where('status', '==', 'done');
    return this.documents.slice(done, 'completed_at', 'asc', page, taskFromDocument);
  }

  /** Held tasks of any session whose lease ran out by `now`, longest ago first. */
  lapsed(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    const query = this.tasks.where('status', 'in', [...HELD]);
    return this.due({ query, time: 'lease_expires_at' }, { now, limit, after });
  }

  /** Available tasks of any session whose backoff ended by `now`, longest ago first. */
  backedOff(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    const query = this.tasks.where('status', '==', 'available');
    return this.due({ query, time: 'retry_at' }, { now, limit, after });
  }

  /** Coding tasks of any session that had waited too long for a runner by `now`, longest ago first. */
  queueEnded(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    const query = this.tasks.where('status', '==', 'available');
    return this.due({ query, time: 'coding.queue_ends_at' }, { now, limit, after });
  }

  private dueBy(session: string, now: Date): Query {
    const open = this.tasks.where('session', '==', session).where('status', 'in', ['available', ...HELD]);
    return open.where('deadline', '<=', now);
  }

  private due(query: DueQuery, page: DuePage): Promise<Batch<Versioned<Task>>> {
    return readDue(query, page, (snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument));
  }

  private first(query: Query, limit: number): Promise<Versioned<Task>[]> {
    return this.documents.firstVersioned(query, limit, taskFromDocument);
  }

  private async all(query: Query): Promise<Versioned<Task>[]> {
    const { docs } = await query.get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument));
  }

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

export type TaskReader = Pick<FirestoreTaskReader, keyof FirestoreTaskReader>;

function beginningWith(query: Query, beginning: string): Query {
  const id = FieldPath.documentId();
  return query.where(id, '>=', beginning).where(id, '<', `${beginning}\uf8ff`);
}

/** Of tasks that can be claimed, those with a deadline, in the order of the queue. */
export function withDeadline(ready: Query): Query {
  const ordered = ready.orderBy('priority').orderBy('deadline').orderBy('created_at');
  return ordered.orderBy(FieldPath.documentId());
}

/** All of them by priority, creation and id: whoever comes before a task without a deadline here, does so in the queue. */
export function withoutRegardToDeadline(ready: Query): Query {
  return ready.orderBy('priority').orderBy('created_at').orderBy(FieldPath.documentId());
}

export const taskWriters: ChangeWriters<TaskChanges> = {
  createTask({ task }, writes) {
    writes.createLasting(taskPath(task.id), taskToDocument(task));
  },
  replaceTask({ task, version }, writes) {
    writes.replaceLatest(taskPath(task.id), taskToDocument(task), version);
  },
  dependencyDone({ taskId }, writes) {
    writes.update(taskPath(taskId), { blockers: FieldValue.increment(-1) });
  },
  dependencyFailed({ taskId, dependencyId }, writes) {
    writes.update(taskPath(taskId), { failed_dependencies: FieldValue.arrayUnion(dependencyId) });
  },
  addDependents({ taskId, dependents, version }, writes) {
    writes.replace(taskPath(taskId), { dependents: FieldValue.arrayUnion(...dependents) }, version);
  },
  logTask({ taskId, entry: { id, kind, at, details } }, writes) {
    writes.set(taskLogPath(taskId, id), { kind, at, ...details });
  },
};
