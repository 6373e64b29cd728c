import { FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { MAX_LISTED_BYTES } from '../../domain/size.ts';
import {
  type Found,
  type Place,
  type PriorityRange,
  type QueueFilter,
  type QueueReader,
  type QueueStatus,
  STATE_SHARE,
} from '../../domain/system/readers.ts';
import type { Task, TaskStatus } from '../../domain/tasks/task.ts';
import { COLLECTIONS } from './paths.ts';
import { readyPage } from './queueOrder.ts';
import type { DocumentReading } from './reading.ts';
import { taskFromDocument } from './taskDocument.ts';

const OPEN: readonly TaskStatus[] = ['available', 'claimed', 'in_progress', 'waiting'];

export class FirestoreQueueReader implements QueueReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

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
