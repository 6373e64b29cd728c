import { FieldPath, type Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { watchUntil } from '../../../kernel/concurrency.ts';
import { deleteFound } from '../../../kernel/firestore/client.ts';
import {
  COLLECTIONS,
  mailboxPath,
  TASK_LOGS,
  TASK_MESSAGES,
  TASK_RESULTS,
  taskMessagePath,
  taskPath,
} from '../../../kernel/firestore/paths.ts';
import { type DuePage, FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import { timeOf } from '../../../kernel/firestore/verifiedCommit.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import {
  type Mailbox,
  type Message,
  type MessageChanges,
  mailboxFromDocument,
  mailboxToDocument,
  taskMessageToDocument,
} from '../rules/mailbox.ts';
import type { MailboxQueries, TaskQueries, WaitField } from '../rules/ports.ts';
import {
  CODING_TYPE,
  compareInQueue,
  type QueuePart,
  type Task,
  type TaskStatus,
  taskFromDocument,
} from '../rules/task.ts';

/** Maximum number of values in an `in` filter of Firestore. */
const MAX_ALTERNATIVES = 30;
export const HELD: readonly TaskStatus[] = ['claimed', 'in_progress', 'waiting'];
export const OPEN: readonly TaskStatus[] = ['available', ...HELD];

export class FirestoreTaskQueries extends FirestoreReader implements TaskQueries {
  private readonly tasks: Query = this.database.collection(COLLECTIONS.tasks);

  async find(taskId: string): Promise<Versioned<Task> | undefined> {
    return this.documents.findVersioned(await this.database.doc(taskPath(taskId)).get(), taskFromDocument);
  }

  async findAll(taskIds: readonly string[]): Promise<readonly (Versioned<Task> | undefined)[]> {
    if (taskIds.length === 0) return [];
    const snapshots = await this.database.getAll(...taskIds.map((taskId) => this.database.doc(taskPath(taskId))));
    return snapshots.map((snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument)[0]);
  }

  async withIdPrefix(beginning: string): Promise<readonly Versioned<Task>[]> {
    const { docs } = await withPrefix(this.tasks, beginning).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument));
  }

  openWithIdPrefix(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]> {
    return this.first(withPrefix(this.open(session), beginning), limit);
  }

  async notStarted(session: string, agentId: string): Promise<Versioned<Task> | undefined> {
    const claimed = this.inSession(session)
      .where('claimed_by', '==', agentId)
      .where('status', '==', 'claimed')
      .where('claimed_by_runner', '==', false);
    return (await this.first(claimed.orderBy('claimed_at'), 1))[0];
  }

  async claimable(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
    { type, owner }: QueuePart = {},
  ): Promise<readonly Versioned<Task>[]> {
    const inSession = this.inSession(session);
    const ofType = type === undefined ? inSession : inSession.where('type', '==', type);
    const ready = (owner === undefined ? ofType : ofType.where('coding.owner_uid', '==', owner))
      .where('status', '==', 'available')
      .where('blockers', '==', 0);
    const chunks = Array.from({ length: Math.ceil(capabilityKeys.length / MAX_ALTERNATIVES) }, (_, chunk) =>
      capabilityKeys.slice(chunk * MAX_ALTERNATIVES, (chunk + 1) * MAX_ALTERNATIVES),
    );
    const found = await Promise.all(
      chunks.flatMap((keys) => {
        const satisfied =
          keys.length === 1 ? ready.where('capability_key', '==', keys[0]) : ready.where('capability_key', 'in', keys);
        return [withDeadline(satisfied), ignoringDeadline(satisfied)].map((walk) => this.first(walk, limit));
      }),
    );
    const byId = new Map(found.flat().map((task) => [task.value.id, task]));
    return [...byId.values()].sort((a, b) => compareInQueue(a.value, b.value)).slice(0, limit);
  }

  async late(session: string, now: Date, limit: number): Promise<readonly Task[]> {
    const due = this.open(session).where('deadline', '<=', now);
    return (await this.first(due.orderBy('deadline'), limit)).map(({ value }) => value);
  }

  async countLate(session: string, now: Date): Promise<number> {
    return (await this.open(session).where('deadline', '<=', now).count().get()).data().count;
  }

  async firstBackoff(session: string): Promise<Versioned<Task> | undefined> {
    const available = this.inSession(session).where('status', '==', 'available');
    return (await this.first(available.where('retry_at', '>', new Date(0)).orderBy('retry_at'), 1))[0];
  }

  list(session: string, statuses: readonly TaskStatus[] | undefined, page: PageRequest): Promise<ListPage<Task>> {
    const inSession = this.inSession(session);
    const matching = statuses === undefined ? inSession : inSession.where('status', 'in', statuses);
    return this.documents.slice(matching, ['created_at', 'asc'], page, taskFromDocument);
  }

  listDone(session: string, page: PageRequest): Promise<ListPage<Task>> {
    const done = this.inSession(session).where('status', '==', 'done');
    return this.documents.slice(done, ['completed_at', 'asc'], page, taskFromDocument);
  }

  expired(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>> {
    return this.due(this.tasks.where('status', 'in', HELD), 'lease_expires_at', { now, limit, after });
  }

  unproven(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>> {
    return this.due(this.tasks, 'proof_until', { now, limit, after });
  }

  async verifying(session: string, limit: number): Promise<readonly Task[]> {
    return (await this.first(this.verified(session), limit)).map(({ value }) => value);
  }

  async countVerifying(session: string): Promise<number> {
    return (await this.verified(session).count().get()).data().count;
  }

  private verified(session: string): Query {
    return this.inSession(session).where('proof_until', '>', new Date(0)).orderBy('proof_until');
  }

  async reviews(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
  ): Promise<readonly Versioned<Task>[]> {
    const keys = capabilityKeys.slice(0, MAX_ALTERNATIVES);
    const available = this.inSession(session).where('status', '==', 'available').where('blockers', '==', 0);
    return this.first(ignoringDeadline(available.where('capability_key', 'in', keys)), limit);
  }

  closedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>> {
    return this.due(this.tasks, 'completed_at', { now, limit, after });
  }

  async deleteBelow(taskId: string): Promise<void> {
    for (const below of [TASK_LOGS, TASK_MESSAGES, TASK_RESULTS])
      await deleteFound(this.database.collection(`${taskPath(taskId)}/${below}`));
  }

  backedOff(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>> {
    const available = this.tasks.where('status', '==', 'available');
    return this.due(available, 'retry_at', { now, limit, after });
  }

  queueEnded(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>> {
    const available = this.tasks.where('status', '==', 'available');
    return this.due(available, 'coding.queue_ends_at', { now, limit, after });
  }

  async waitingFor(
    field: WaitField,
    key: string,
    { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly string[]> {
    const waiting = this.tasks.where(field, '==', key).orderBy(FieldPath.documentId());
    const page = after === undefined ? waiting : waiting.startAfter(after);
    return (await page.limit(limit).select().get()).docs.map(({ id }) => id);
  }

  waitingForFiles(session: string, limit: number): Promise<readonly Versioned<Task>[]> {
    return this.first(this.inSession(session).where('files_wait', '>', '').orderBy('files_wait'), limit);
  }

  async openCodingOf(ownerUid: string, limit: number, after?: string): Promise<readonly Task[]> {
    const own = this.tasks.where('coding.owner_uid', '==', ownerUid).where('status', 'in', OPEN);
    return (await this.byId(own, limit, after)).map(({ value }) => value);
  }

  async openCodingIn(workspace: string, limit: number, after?: string): Promise<readonly Task[]> {
    const there = this.tasks.where('workspace', '==', workspace).where('type', '==', CODING_TYPE);
    return (await this.byId(there.where('status', 'in', OPEN), limit, after)).map(({ value }) => value);
  }

  unsettled(limit: number, after?: string): Promise<readonly Versioned<Task>[]> {
    return this.byId(this.tasks.where('stuck_unsettled', '==', true), limit, after);
  }

  private byId(query: Query, limit: number, after: string | undefined): Promise<readonly Versioned<Task>[]> {
    const ordered = query.orderBy(FieldPath.documentId());
    return this.first(after === undefined ? ordered : ordered.startAfter(after), limit);
  }

  listStuck(session: string, page: PageRequest): Promise<ListPage<Task>> {
    return this.documents.slice(this.stuck(session), ['created_at', 'asc'], page, taskFromDocument);
  }

  async countStuck(session: string): Promise<number> {
    return (await this.stuck(session).orderBy('created_at').count().get()).data().count;
  }

  private stuck(session: string): Query {
    return this.inSession(session).where('status', '==', 'available').where('stuck', '==', true);
  }

  private due(query: Query, time: string, page: DuePage): Promise<SweepBatch<Versioned<Task>>> {
    return readDue(query, time, page, (snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument));
  }

  private first(query: Query, limit: number): Promise<Versioned<Task>[]> {
    return this.documents.firstVersioned(query, limit, taskFromDocument);
  }

  private inSession(session: string): Query {
    return this.tasks.where('session', '==', session);
  }

  private open(session: string): Query {
    return this.inSession(session).where('status', 'in', OPEN);
  }
}

function withPrefix(query: Query, beginning: string): Query {
  const id = FieldPath.documentId();
  return query.where(id, '>=', beginning).where(id, '<', `${beginning}\uf8ff`);
}

/** Returns the query for claimable tasks that have a deadline, in the order of the queue. */
export function withDeadline(ready: Query): Query {
  return ready.orderBy('priority').orderBy('deadline').orderBy('created_at').orderBy(FieldPath.documentId());
}

/** Returns the query for all claimable tasks, sorted by priority, creation time and id. Deadlines are ignored. */
export function ignoringDeadline(ready: Query): Query {
  return ready.orderBy('priority').orderBy('created_at').orderBy(FieldPath.documentId());
}

const ignored = () => undefined;

/** Mailboxes, stored as `mailboxes/{agentId}`. Members of the workspace may read agents, but not mailboxes. */
export class FirestoreMailboxQueries extends FirestoreReader implements MailboxQueries {
  async find(agentId: string): Promise<Versioned<Mailbox> | undefined> {
    const snapshot = await this.database.doc(mailboxPath(agentId)).get();
    return this.documents.findVersioned(snapshot, mailboxFromDocument);
  }

  async arrival(
    agentId: string,
    task: { readonly id: string; readonly version: string },
    isAwaited: (message: Message) => boolean,
    until: AbortSignal,
  ): Promise<boolean> {
    const readAt = timeOf(task.version).valueOf();
    let isThere = false;
    // If a watch fails, the wait lasts until `until`, and the caller reads both documents again.
    await watchUntil(until, (done) => [
      this.database.doc(taskPath(task.id)).onSnapshot(({ updateTime }) => {
        if (updateTime === undefined || updateTime.valueOf() > readAt) done();
      }, ignored),
      this.database.doc(mailboxPath(agentId)).onSnapshot((snapshot) => {
        const found = this.documents.readable(snapshot, mailboxFromDocument);
        isThere = found.some(({ messages }) => messages.some(isAwaited));
        if (isThere) done();
      }, ignored),
    ]);
    return isThere;
  }

  watch(agentId: string, changed: () => void, failed: (error: unknown) => void): () => void {
    return this.database.doc(mailboxPath(agentId)).onSnapshot(changed, failed);
  }
}

export const mailboxWriters: ChangeWriters<MessageChanges> = {
  replaceMailbox({ mailbox: { id: to, ...mailbox }, version, sent, noticed = [], read = [] }, writes) {
    writes.createOrReplace(mailboxPath(to), mailboxToDocument({ id: to, ...mailbox }), version);
    for (const one of [...(sent ? [sent] : []), ...noticed])
      if (one.task_id !== undefined)
        writes.set(taskMessagePath(one.task_id, to, one.id), taskMessageToDocument({ ...one, to }));
    // Earlier releases stored no copy of a message, and a task is deleted together with the messages about it.
    for (const { task_id, id } of read)
      if (task_id !== undefined) writes.updateIfExists(taskMessagePath(task_id, to, id), [['read_at', writes.now]]);
  },
};
