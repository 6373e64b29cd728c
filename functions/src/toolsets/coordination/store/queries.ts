/** How tasks, sessions and discoveries are found. */
import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { agentFromDocument } from '../../../access/store/agents.ts';
import { workspaceFromDocument } from '../../../access/store/workspaces.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import {
  ARCHIVE,
  agentPath,
  archivedSessionPath,
  COLLECTIONS,
  COUNTER_SHARDS,
  countersPath,
  sessionPath,
  taskPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { versioned } from '../../../kernel/firestore/provenCommit.ts';
import { type DuePage, FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import type { Batch, Page, Position, Slice } from '../../../kernel/paging.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import {
  type ArchivedSession,
  type Discovery,
  type Opening,
  type OpenSession,
  type Session,
  sumCounters,
} from '../rules/session.ts';
import { compareInQueue, type QueuePart, type Task, type TaskStatus } from '../rules/task.ts';
import {
  counterFromDocument,
  discoveryFromDocument,
  sessionFromDocument,
  taskFromDocument,
} from './documents.ts';

/** The most alternatives that one `in` filter takes. */
const MAX_ALTERNATIVES = 30;

const HELD: readonly TaskStatus[] = ['claimed', 'in_progress', 'waiting'];

export const OPEN: readonly TaskStatus[] = ['available', ...HELD];

const MAX_ATTEMPTS = 5;

/** How many workspaces' session names an instance remembers. */
const MAX_REMEMBERED = 1000;

export class TaskQueries extends FirestoreReader {
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
    const { docs } = await beginningWith(this.tasks, beginning).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, taskFromDocument));
  }

  /** Those of a session that are open and whose ids begin so, by id. */
  openStartingWith(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]> {
    return this.first(beginningWith(this.open(session), beginning), limit);
  }

  /** Of what the agent has claimed otherwise than as a runner, and not started, the oldest claim. */
  async notStarted(session: string, agentId: string): Promise<Task | undefined> {
    const claimed = this.inSession(session)
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
          keys.length === 1
            ? ready.where('capability_key', '==', keys[0])
            : ready.where('capability_key', 'in', keys);
        return [withDeadline(satisfied), withoutRegardToDeadline(satisfied)].map((walk) =>
          this.first(walk, limit),
        );
      }),
    );
    const byId = new Map(found.flat().map((task) => [task.value.id, task]));
    return [...byId.values()].sort((a, b) => compareInQueue(a.value, b.value)).slice(0, limit);
  }

  /** Tasks that are not closed and were due by `now`, longest ago first. */
  async late(session: string, now: Date, limit: number): Promise<readonly Task[]> {
    const due = this.open(session).where('deadline', '<=', now);
    return (await this.first(due.orderBy('deadline'), limit)).map(({ value }) => value);
  }

  async countLate(session: string, now: Date): Promise<number> {
    return (await this.open(session).where('deadline', '<=', now).count().get()).data().count;
  }

  /** The task whose backoff ends first. */
  async firstBackoff(session: string): Promise<Versioned<Task> | undefined> {
    const available = this.inSession(session).where('status', '==', 'available');
    return (await this.first(available.where('retry_at', '>', new Date(0)).orderBy('retry_at'), 1))[0];
  }

  /** By creation, oldest first. */
  list(session: string, statuses: readonly TaskStatus[] | undefined, page: Page): Promise<Slice<Task>> {
    const inSession = this.inSession(session);
    const matching = statuses === undefined ? inSession : inSession.where('status', 'in', statuses);
    return this.documents.slice(matching, 'created_at', 'asc', page, taskFromDocument);
  }

  /** Done tasks by completion, oldest first. */
  listDone(session: string, page: Page): Promise<Slice<Task>> {
    const done = this.inSession(session).where('status', '==', 'done');
    return this.documents.slice(done, 'completed_at', 'asc', page, taskFromDocument);
  }

  /** Held tasks of any session whose lease ran out by `now`, longest ago first. */
  lapsed(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    return this.due(this.tasks.where('status', 'in', HELD), 'lease_expires_at', { now, limit, after });
  }

  /** Available tasks of any session whose backoff ended by `now`, longest ago first. */
  backedOff(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    const available = this.tasks.where('status', '==', 'available');
    return this.due(available, 'retry_at', { now, limit, after });
  }

  /** Coding tasks of any session that had waited too long for a runner by `now`, longest ago first. */
  queueEnded(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>> {
    const available = this.tasks.where('status', '==', 'available');
    return this.due(available, 'coding.queue_ends_at', { now, limit, after });
  }

  private due(query: Query, time: string, page: DuePage): Promise<Batch<Versioned<Task>>> {
    return readDue(query, time, page, (snapshot) =>
      this.documents.readableVersioned(snapshot, taskFromDocument),
    );
  }

  private first(query: Query, limit: number): Promise<Versioned<Task>[]> {
    return this.documents.firstVersioned(query, limit, taskFromDocument);
  }

  private inSession(session: string): Query {
    return this.tasks.where('session', '==', session);
  }

  /** The tasks of a session that are not closed. */
  private open(session: string): Query {
    return this.inSession(session).where('status', 'in', OPEN);
  }

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

function beginningWith(query: Query, beginning: string): Query {
  const id = FieldPath.documentId();
  return query.where(id, '>=', beginning).where(id, '<', `${beginning}\uf8ff`);
}

/** Of tasks that can be claimed, those with a deadline, in the order of the queue. */
export function withDeadline(ready: Query): Query {
  return ready.orderBy('priority').orderBy('deadline').orderBy('created_at').orderBy(FieldPath.documentId());
}

/** All of them by priority, creation and id: what comes before a task without a deadline here does so in the queue. */
export function withoutRegardToDeadline(ready: Query): Query {
  return ready.orderBy('priority').orderBy('created_at').orderBy(FieldPath.documentId());
}

export class SessionQueries extends FirestoreReader {
  /** Which session each workspace last had open: a guess that saves a round trip, checked at every read. */
  private readonly remembered = new BoundedMap<string, string>(MAX_REMEMBERED);

  async current(workspace: string): Promise<OpenSession | undefined> {
    return (await this.read(workspace, [])).open;
  }

  /** The open session, or the version of a workspace that has none. Neither where there is no workspace. */
  async opening(workspace: string): Promise<Opening> {
    return this.read(workspace, []);
  }

  /** The agent and the open session in one round trip. */
  async currentWithAgent(workspace: string, agentId: string) {
    const { open, more } = await this.read(workspace, [agentPath(agentId)]);
    return { open, agent: more[0] && this.documents.findVersioned(more[0], agentFromDocument) };
  }

  /** A session that another goal has replaced. */
  async archived(workspace: string, session: string): Promise<Session | undefined> {
    const snapshot = await this.database.doc(archivedSessionPath(workspace, session)).get();
    return this.documents.find(snapshot, sessionFromDocument);
  }

  /** Sessions that were archived and not cleared yet. */
  async uncleared(limit: number): Promise<readonly ArchivedSession[]> {
    const uncleared = this.database.collectionGroup(ARCHIVE).where('cleared', '==', false);
    const { docs } = await uncleared.limit(limit).get();
    return docs.map(({ id, ref }) => ({ id, workspace: ref.parent.parent?.id ?? '' }));
  }

  /** Newest first, with any of `tags` where given. */
  discoveries(session: string, tags: readonly string[] | undefined, page: Page): Promise<Slice<Discovery>> {
    const all: Query = this.database.collection(COLLECTIONS.discoveries).where('session', '==', session);
    const matching = tags === undefined ? all : all.where('tags', 'array-contains-any', tags);
    return this.documents.slice(matching, 'created_at', 'desc', page, discoveryFromDocument);
  }

  /** The session's counters; `stamp` is another one after each change of what is counted. */
  async counters(workspace: string, session: string) {
    const path = countersPath(workspace, session);
    const shards = Array.from({ length: COUNTER_SHARDS }, (_, shard) =>
      this.database.doc(`${path}/${shard}`),
    );
    const snapshots = (await this.database.getAll(...shards)).filter((snapshot) => snapshot.exists);
    const stamp = snapshots.map(({ updateTime: at }) => `${at?.seconds}.${at?.nanoseconds}`).join();
    const counters = snapshots.flatMap((snapshot) => this.documents.readable(snapshot, counterFromDocument));
    return { ...sumCounters(counters), stamp };
  }

  /** Reads the workspace, its session where the guess is right, and more documents, in one round trip. */
  private async read(
    workspace: string,
    paths: readonly string[],
    attempt = 1,
  ): Promise<Opening & { more: readonly DocumentSnapshot[] }> {
    const guess = this.remembered.get(workspace);
    const guessed = guess === undefined ? [] : [sessionPath(workspace, guess)];
    const snapshots = await this.database.getAll(
      ...[workspacePath(workspace), ...paths, ...guessed].map((path) => this.database.doc(path)),
    );
    const [named, ...rest] = snapshots;
    const more = rest.slice(0, paths.length);
    if (named?.updateTime === undefined) return { more };
    const { session: name } = this.documents.value(named, workspaceFromDocument);
    const { version: workspaceVersion } = versioned(name, named.updateTime);
    if (name === undefined) return { vacant: workspaceVersion, more };
    const stored =
      guess === name ? rest[paths.length] : await this.database.doc(sessionPath(workspace, name)).get();
    this.remembered.set(workspace, name);
    if (stored?.updateTime === undefined) {
      // Archived between the two reads; but not time and again.
      if (attempt === MAX_ATTEMPTS)
        throw new Error(`Workspace ${workspace} names a session that is not there.`);
      return this.read(workspace, paths, attempt + 1);
    }
    const session = versioned(this.documents.value(stored, sessionFromDocument), stored.updateTime);
    return { open: { session: session.value, sessionVersion: session.version, workspaceVersion }, more };
  }
}

export type SessionReader = PortOf<SessionQueries>;
