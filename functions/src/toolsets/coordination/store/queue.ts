/** The queue as it is listed, in its order, and its mirror in the Realtime Database. */
import { FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import type { Database } from 'firebase-admin/database';
import { COLLECTIONS } from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import { fitting, MAX_LISTED_BYTES } from '../../../kernel/json.ts';
import type { Found, Place } from '../../../kernel/paging.ts';
import { unlessUnreadable } from '../../../kernel/ports.ts';
import { queuedTaskPath } from '../../../kernel/realtime/database.ts';
import { type PriorityRange, type QueueFilter, type QueueStatus, STATE_SHARE } from '../rules/queue.ts';
import { compareInQueue, priorityWord, type Task, type TaskStatus, taskType } from '../rules/task.ts';
import { taskFromDocument } from './documents.ts';
import { type TaskReader, withDeadline, withoutRegardToDeadline } from './tasks.ts';

const OPEN: readonly TaskStatus[] = ['available', 'claimed', 'in_progress', 'waiting'];

export class FirestoreQueueReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  /**
   * Tasks of one state. Pending ones are in the order of the queue; the others by priority, creation and id, blocked
   * ones by how much blocks them before that.
   */
  async list(
    session: string,
    status: QueueStatus,
    { priorities, type }: QueueFilter,
    limit: number,
    after: Place | undefined,
  ): Promise<Found<Task>> {
    const isBlocked = status === 'blocked';
    const inState = this.inState(session, status);
    const ofType = within(type === undefined ? inState : inState.where('type', '==', type), priorities);
    if (status === 'pending') return readyPage(this.documents, ofType, limit, after);
    const ordered = ofType.orderBy('priority').orderBy('created_at').orderBy(FieldPath.documentId());
    const continued = after === undefined ? ordered : ordered.startAfter(...startOf(after));
    const { items, more } = await this.documents.page(
      continued,
      limit,
      taskFromDocument,
      MAX_LISTED_BYTES * STATE_SHARE,
    );
    const last = items.at(-1);
    return { items, ...(more && last !== undefined && { next: placeOf(last, isBlocked) }) };
  }

  /** Those that can be claimed. */
  countPending(session: string): Promise<number> {
    return this.count(session, 'pending');
  }

  countBlocked(session: string): Promise<number> {
    return this.count(session, 'blocked');
  }

  /** In an order that has an index. */
  private async count(session: string, status: QueueStatus): Promise<number> {
    const ordered = this.inState(session, status).orderBy('priority').orderBy('created_at');
    return (await ordered.count().get()).data().count;
  }

  /** When the oldest task that is not closed was created. */
  async oldest(session: string): Promise<Date | undefined> {
    const open = this.tasks.where('session', '==', session).where('status', 'in', OPEN);
    const [oldest] = await this.documents.firstVersioned(open.orderBy('created_at'), 1, taskFromDocument);
    return oldest?.value.createdAt;
  }

  /** A task in hand has no blockers, so that one index serves all states. */
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

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

export type QueueReader = Pick<FirestoreQueueReader, keyof FirestoreQueueReader>;

function within(query: Query, priorities: PriorityRange | undefined): Query {
  if (priorities === undefined) return query;
  return query.where('priority', '>=', priorities.from).where('priority', '<=', priorities.to);
}

function placeOf({ blockers, priority, createdAt, id }: Task, isBlocked: boolean): Place {
  const order = [priority, createdAt.getTime()];
  return { order: isBlocked ? [blockers, ...order] : order, id };
}

function startOf({ order, id }: Place): unknown[] {
  const createdAt = new Date(order.at(-1) ?? 0);
  return [...order.slice(0, -1), createdAt, id];
}

// The order of the queue has no index of its own: most tasks have no deadline, and a query ordered by a
// field leaves out the documents that lack it, among them all tasks from before there were deadlines. So it
// is merged from two walks along indexes: over the tasks with a deadline, and over all tasks without regard
// to it.

/** How far one page looks for tasks without a deadline, past those that have one, and how often. */
const LOOKED_THROUGH = 100;
const MOST_LOOKS = 5;

/**
 * A page of the tasks that can be claimed, in the order of the queue. It is shorter than asked for where very many
 * with a deadline lie before one without.
 * @param after the last task given: priority, deadline where it has one, and creation
 */
async function readyPage(
  documents: DocumentReading,
  ready: Query,
  limit: number,
  after: Place | undefined,
): Promise<Found<Task>> {
  let page = await look(documents, ready, limit, limit, after);
  for (let looks = 1; page.items.length === 0 && page.next !== undefined && looks < MOST_LOOKS; looks++) {
    page = await look(documents, ready, limit, Math.max(limit, LOOKED_THROUGH), page.next);
  }
  return page;
}

async function look(
  documents: DocumentReading,
  ready: Query,
  limit: number,
  lookedThrough: number,
  after: Place | undefined,
): Promise<Found<Task>> {
  const [dated, all] = await Promise.all([
    documents.page(datedAfter(ready, after), limit, taskFromDocument),
    documents.page(undatedAfter(ready, after), lookedThrough, taskFromDocument),
  ]);
  const lastDated = dated.more ? dated.items.at(-1) : undefined;
  const lastSeen = all.more ? all.items.at(-1) : undefined;
  const seen = [...dated.items, ...all.items.filter((task) => task.deadline === undefined)];
  // What lies behind the end of either walk may have something before it that was not seen.
  const known = seen
    .filter((task) => lastDated === undefined || compareInQueue(task, lastDated) <= 0)
    .filter((task) => lastSeen === undefined || task.priority <= lastSeen.priority)
    .sort(compareInQueue);
  const items = fitting(known.slice(0, limit), (task) => task, STATE_SHARE);
  const last = items.at(-1);
  if (last !== undefined && known.length > items.length) return { items, next: placeInQueue(last) };
  if (lastSeen !== undefined && (lastDated === undefined || lastDated.priority > lastSeen.priority)) {
    return { items, next: { order: [lastSeen.priority, lastSeen.createdAt.getTime()], id: lastSeen.id } };
  }
  return { items, ...(lastDated !== undefined && last !== undefined && { next: placeInQueue(last) }) };
}

function placeInQueue({ priority, deadline, createdAt, id }: Task): Place {
  return { order: [priority, ...(deadline ? [deadline.getTime()] : []), createdAt.getTime()], id };
}

/** At equal priority those with a deadline come first, so that none is left after one without. */
function datedAfter(ready: Query, after: Place | undefined): Query {
  const walk = withDeadline(ready);
  const [priority = 0, ...times] = after?.order ?? [];
  if (after === undefined) return walk;
  if (times.length === 1) return walk.startAfter(priority);
  return walk.startAfter(priority, ...times.map((time) => new Date(time)), after.id);
}

function undatedAfter(ready: Query, after: Place | undefined): Query {
  const walk = withoutRegardToDeadline(ready);
  const [priority = 0, ...times] = after?.order ?? [];
  if (after === undefined) return walk;
  if (times.length > 1) return walk.startAt(priority);
  return walk.startAfter(priority, ...times.map((time) => new Date(time)), after.id);
}

// The mirror of what can be claimed now: `tasks/queue/{taskId}`, as spec/network.md's firebase.subscribe
// example watches it. Only the mirroring trigger writes it.

/** Somebody else's change ends the loop in a moment; this ends it when something is wrong. */
const MAX_ATTEMPTS = 10;

export class TaskQueueMirror {
  private readonly database: () => Promise<Database>;
  private readonly tasks: TaskReader;

  constructor(database: () => Promise<Database>, tasks: TaskReader) {
    this.database = database;
    this.tasks = tasks;
  }

  /**
   * Makes the mirror show the task as it is now. Events come late, twice and out of order, so none is
   * believed: the task is read, written, and read again until it has not changed meanwhile. Whoever writes
   * last has then seen the latest. Nobody can claim a task that cannot be read, so it is not shown.
   */
  async refresh(taskId: string): Promise<void> {
    const reference = (await this.database()).ref(queuedTaskPath(taskId));
    let before = await unlessUnreadable(this.tasks.find(taskId));
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await reference.set(before ? queueEntry(before.value) : null);
      const after = await unlessUnreadable(this.tasks.find(taskId));
      if (after?.version === before?.version) return;
      before = after;
    }
    throw new Error(`Task ${taskId} never stood still for its mirror.`);
  }
}

function queueEntry(task: Task): Record<string, unknown> | null {
  if (task.status !== 'available' || task.blockers > 0) return null;
  return {
    id: task.id,
    type: taskType(task),
    priority: priorityWord(task.priority),
    description: task.description,
    workspace: task.workspace,
    required_capabilities: [...task.requiredCapabilities],
    created_at: task.createdAt.toISOString(),
    ...(task.deadline && { deadline: task.deadline.toISOString() }),
  };
}
