/** Lists of the queue's tasks, and the mirror of the queue in the Realtime Database. */
import { type DocumentSnapshot, type Firestore, type Query, Timestamp } from '@google-cloud/firestore';
import type { Database } from 'firebase-admin/database';
import { z } from 'zod';
import { DEFAULT_WORKSPACE } from '../../../identity/rules/principal.ts';
import { watchUntil } from '../../../kernel/concurrency.ts';
import { COLLECTIONS, queueShardsPath, sessionPath, workspacePath } from '../../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { timeOf } from '../../../kernel/firestore/verifiedCommit.ts';
import { fittingItems, MAX_LISTED_BYTES } from '../../../kernel/json.ts';
import type { CursorPage, ListCursor } from '../../../kernel/paging.ts';
import { type Log, skipUnreadable } from '../../../kernel/ports.ts';
import { queuedTaskPath } from '../../../kernel/realtime/database.ts';
import type { QueueFilter, QueueMark, QueueQueries, QueueStatus } from '../rules/ports.ts';
import { compareInQueue, priorityWord, type Task, taskFromDocument, taskType } from '../rules/task.ts';
import { MAX_STATE_SHARE } from '../rules/taskProgress.ts';
import { type FirestoreTaskQueries, ignoringDeadline, OPEN, withDeadline } from './queries.ts';

/** Maximum number of tasks per read, and of reads per page, when merging tasks with and without a deadline. */
const MAX_READ = 100;
const MAX_READINGS = 5;

/** Maximum time between a server timestamp in a document's field and the document's later update time. */
const CLOCK_MARGIN_MS = 10_000;

export class FirestoreQueueQueries extends FirestoreReader implements QueueQueries {
  private readonly tasks: Query = this.database.collection(COLLECTIONS.tasks);
  private readonly log: Log;

  constructor(database: Firestore, documents: DocumentReading, log: Log) {
    super(database, documents);
    this.log = log;
  }

  async list(
    session: string,
    status: QueueStatus,
    { priorities, type, hasDeadlines = true }: QueueFilter,
    { limit, after }: { readonly limit: number; readonly after?: ListCursor | undefined },
  ): Promise<CursorPage<Task>> {
    let query = this.inState(session, status);
    if (type !== undefined) query = query.where('type', '==', type);
    if (priorities !== undefined)
      query = query.where('priority', '>=', priorities.from).where('priority', '<=', priorities.to);
    // A position that includes a deadline was returned while tasks had deadlines.
    if (status === 'pending' && (hasDeadlines || after?.order.length === 3)) return this.claimable(query, limit, after);
    const ordered = ignoringDeadline(query);
    const { items, more } = await this.documents.page(
      after === undefined
        ? ordered
        : ordered.startAfter(...after.order.slice(0, -1), new Date(after.order.at(-1) ?? 0), after.id),
      limit,
      taskFromDocument,
      MAX_LISTED_BYTES * MAX_STATE_SHARE,
    );
    const last = items.at(-1);
    if (!more || last === undefined) return { items };
    const { blockers, priority } = last;
    return { items, next: queuePlaceOf(last, ...(status === 'blocked' ? [blockers, priority] : [priority])) };
  }

  async count(session: string, status: QueueStatus): Promise<number> {
    const ordered = this.inState(session, status).orderBy('priority').orderBy('created_at');
    return (await ordered.count().get()).data().count;
  }

  async oldest(session: string): Promise<Date | undefined> {
    const open = this.tasks.where('session', '==', session).where('status', 'in', OPEN);
    const [oldest] = await this.documents.firstVersioned(open.orderBy('created_at'), 1, taskFromDocument);
    return oldest?.value.created_at;
  }

  growth(workspace: string, { session, readAt }: QueueMark, until: AbortSignal): Promise<void> {
    const fail = (error: Error) => this.log.warn('queue_watch_broke', { workspace, error });
    return watchUntil(until, (grown) => {
      const opened = (snapshot: DocumentSnapshot) => void (snapshot.get('session') !== undefined && grown());
      return session === undefined || readAt === undefined
        ? [this.database.doc(workspacePath(workspace)).onSnapshot(opened, fail)]
        : watchGrowth(this.database, { workspace, id: session, readAt: timeOf(readAt) }, grown, fail);
    });
  }

  /** Held tasks have 0 blockers, so one index that includes the blockers serves every status. */
  private inState(session: string, status: QueueStatus): Query {
    const own = this.tasks.where('session', '==', session);
    switch (status) {
      case 'pending':
        return own.where('status', '==', 'available').where('blockers', '==', 0);
      case 'blocked':
        return own.where('status', '==', 'available').where('blockers', '>', 0).orderBy('blockers');
      case 'assigned':
        return own.where('status', '==', 'claimed').where('blockers', '==', 0);
      case 'in_progress':
        return own.where('status', 'in', ['in_progress', 'waiting']).where('blockers', '==', 0);
    }
  }

  /**
   * Returns a page of claimable tasks in the order of the queue. If a great many tasks with a deadline precede the
   * tasks without one, the page can be shorter than `limit`.
   * @param after position of the last returned task: priority, deadline if it has one, and creation time
   */
  private async claimable(ready: Query, limit: number, after: ListCursor | undefined): Promise<CursorPage<Task>> {
    let page = await this.merged(ready, limit, limit, after);
    for (let read = 1; page.items.length === 0 && page.next !== undefined && read < MAX_READINGS; read++)
      page = await this.merged(ready, limit, Math.max(limit, MAX_READ), page.next);
    return page;
  }

  /**
   * No index has the order of the queue. A query sorted by a field omits documents without that field, and most tasks
   * have no deadline. Therefore two indexed queries are merged: one for tasks with a deadline, and one for all tasks
   * that ignores deadlines.
   */
  private async merged(
    ready: Query,
    limit: number,
    mostRead: number,
    after: ListCursor | undefined,
  ): Promise<CursorPage<Task>> {
    const walks = startsAfter(ready, after);
    const [dated, all] = await Promise.all([
      this.documents.page(walks.dated, limit, taskFromDocument),
      this.documents.page(walks.all, mostRead, taskFromDocument),
    ]);
    const lastDated = dated.more ? dated.items.at(-1) : undefined;
    const lastSeen = all.more ? all.items.at(-1) : undefined;
    const seen = [...dated.items, ...all.items.filter((task) => task.deadline === undefined)];
    // Tasks after the end of either query's page may be missing, so only tasks up to the earlier end are returned.
    const known = seen
      .filter((task) => lastDated === undefined || compareInQueue(task, lastDated) <= 0)
      .filter((task) => lastSeen === undefined || task.priority <= lastSeen.priority)
      .sort(compareInQueue);
    const items = fittingItems(known.slice(0, limit), (task) => task, MAX_STATE_SHARE);
    const last = items.at(-1);
    if (last !== undefined && known.length > items.length) return { items, next: queueCursorOf(last) };
    if (lastSeen !== undefined && (lastDated === undefined || lastDated.priority > lastSeen.priority))
      return { items, next: queuePlaceOf(lastSeen, lastSeen.priority) };
    return { items, ...(lastDated !== undefined && last !== undefined && { next: queueCursorOf(last) }) };
  }
}

/** Calls `grown` after each write later than `readAt`, even if no task was added. The next claim reads the changes. */
function watchGrowth(
  database: Firestore,
  { workspace, id, readAt }: { readonly workspace: string; readonly id: string; readonly readAt: Timestamp },
  grown: () => void,
  fail: (error: Error) => void,
): readonly (() => void)[] {
  const isLater = ({ updateTime }: DocumentSnapshot) =>
    updateTime === undefined || updateTime.valueOf() > readAt.valueOf();
  const around = Timestamp.fromMillis(readAt.toMillis() - CLOCK_MARGIN_MS);
  const gates = database.collection(queueShardsPath(workspace, id)).where('grown_at', '>', around);
  return [
    database.doc(sessionPath(workspace, id)).onSnapshot((snapshot) => {
      if (isLater(snapshot)) grown();
    }, fail),
    gates.onSnapshot(({ docs }) => {
      if (docs.some(isLater)) grown();
    }, fail),
  ];
}

/** @param before the sort values that precede the creation time in the cursor */
function queuePlaceOf({ created_at, id }: Task, ...before: readonly number[]): ListCursor {
  return { order: [...before, created_at.getTime()], id };
}

function queueCursorOf(task: Task): ListCursor {
  return queuePlaceOf(task, task.priority, ...(task.deadline ? [task.deadline.getTime()] : []));
}

function startsAfter(ready: Query, after: ListCursor | undefined) {
  const [dated, all] = [withDeadline(ready), ignoringDeadline(ready)];
  if (after === undefined) return { dated, all };
  const [priority = 0, ...times] = after.order;
  const last = [priority, ...times.map((time) => new Date(time)), after.id];
  // At equal priority, tasks without a deadline follow all tasks with one.
  return times.length === 1
    ? { dated: dated.startAfter(priority), all: all.startAfter(...last) }
    : { dated: dated.startAfter(...last), all: all.startAt(priority) };
}

/** Maximum number of repetitions if the task changes during every write. More repetitions indicate a defect. */
const MAX_ATTEMPTS = 10;

/**
 * Updates the mirror of claimable tasks: `tasks/queue/{taskId}` or `workspaces/{workspace}/queue/{taskId}`. Events
 * can be late, repeated and out of order, so their content is ignored. Instead, the current task is read and written
 * to the mirror, and this is repeated until the task did not change in between. The last writer has thus seen the
 * latest version. Unreadable tasks cannot be claimed and are not mirrored. Source: the network specification, the
 * example of firebase.subscribe.
 * @param event the task before the event; if the task was deleted, only the event contains its workspace
 */
export async function mirrorQueuedTask(
  database: () => Promise<Database>,
  tasks: Pick<FirestoreTaskQueries, 'find'>,
  taskId: string,
  event?: unknown,
): Promise<void> {
  const root = (await database()).ref();
  let before = await skipUnreadable(tasks.find(taskId));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    await root.update(entriesOf(taskId, before?.value, event));
    const after = await skipUnreadable(tasks.find(taskId));
    if (after?.version === before?.version) return;
    before = after;
  }
  throw new Error(`Task ${taskId} changed during each attempt to mirror it.`);
}

/** Returns the entries that the mirror should have for a task, by path. null means that the entry must be absent. */
export async function queueEntries(
  tasks: Pick<FirestoreTaskQueries, 'find'>,
  taskId: string,
  event?: unknown,
): Promise<Entries> {
  return entriesOf(taskId, (await skipUnreadable(tasks.find(taskId)))?.value, event);
}

type Entries = Readonly<Record<string, object | null>>;

function entriesOf(taskId: string, task: Task | undefined, event: unknown): Entries {
  const oldWorkspace = z.object({ workspace: z.string() }).safeParse(event).data?.workspace ?? DEFAULT_WORKSPACE;
  return { [queuedTaskPath(task?.workspace ?? oldWorkspace, taskId)]: task ? queueEntry(task) : null };
}

function queueEntry(task: Task): Record<string, unknown> | null {
  if (task.status !== 'available' || task.blockers > 0) return null;
  return {
    id: task.id,
    type: taskType(task),
    priority: priorityWord(task.priority),
    description: task.description,
    workspace: task.workspace,
    required_capabilities: [...task.required_capabilities],
    created_at: task.created_at.toISOString(),
    ...(task.deadline && { deadline: task.deadline.toISOString() }),
  };
}
