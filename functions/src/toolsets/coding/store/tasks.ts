/** How coding tasks are found and watched. */
import type { DocumentSnapshot, Firestore, Query } from '@google-cloud/firestore';
import {
  COLLECTIONS,
  sessionPath,
  taskPath,
  taskResultPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { Log } from '../../../kernel/ports.ts';
import { deferred, LatestValue } from '../../../kernel/waiting.ts';
import {
  asCodingTask,
  type CodingTask,
  type QueueMark,
  resultPartFromDocument,
  type StoredResult,
  sessionFromDocument,
  type TaskStatus,
  taskFromDocument,
} from '../../coordination/index.ts';
import type { CodingFilter } from '../rules/task.ts';
import { latestChunk } from './logs.ts';

export class CodingTaskQueries extends FirestoreReader {
  private readonly log: Log;

  constructor(database: Firestore, documents: DocumentReading, log: Log) {
    super(database, documents);
    this.log = log;
  }

  /** Of all the workspace's sessions, newest first. */
  list(workspace: string, filter: CodingFilter, page: Page): Promise<Slice<CodingTask>> {
    const own = narrowed(this.tasks.where('workspace', '==', workspace), filter);
    return this.documents.slice(own, 'created_at', 'desc', page, (data) =>
      asCodingTask(taskFromDocument(data)),
    );
  }

  async count(workspace: string, statuses: readonly TaskStatus[]): Promise<number> {
    const counted = this.tasks
      .where('workspace', '==', workspace)
      .where('type', '==', 'coding')
      .where('status', 'in', [...statuses]);
    return (await counted.count().get()).data().count;
  }

  /** The JSON of a result. */
  async result(taskId: string, { epoch, parts }: StoredResult): Promise<string> {
    const paths = Array.from({ length: parts }, (_, part) => taskResultPath(taskId, epoch, part));
    const snapshots = await this.database.getAll(...paths.map((path) => this.database.doc(path)));
    return snapshots.map((snapshot) => this.documents.value(snapshot, resultPartFromDocument)).join('');
  }

  /**
   * Resolves when more may be claimable than at the mark, or when `until` is aborted. It watches the session,
   * whose version grows with its queue; where there is none yet, it watches the workspace, which will name one.
   */
  async queueGrowth(workspace: string, { session, queueVersion }: QueueMark, until: AbortSignal) {
    const path = session === undefined ? workspacePath(workspace) : sessionPath(workspace, session);
    const hasGrown = (snapshot: DocumentSnapshot): boolean => {
      if (session === undefined) return snapshot.get('session') !== undefined;
      // Of a session that cannot be read the claim that follows says so.
      const [found] = this.documents.readable(snapshot, sessionFromDocument);
      return found === undefined || found.queueVersion > queueVersion;
    };
    if (until.aborted) return;
    const { promise: end, resolve } = deferred();
    const stop = this.database.doc(path).onSnapshot(
      (snapshot) => {
        if (hasGrown(snapshot)) resolve();
      },
      (error) => this.log.warn('queue_watch_broke', { workspace, error }),
    );
    until.addEventListener('abort', resolve);
    await end;
    until.removeEventListener('abort', resolve);
    stop();
  }

  /** Yields when a task or its log has changed, first for what is there, until `gone`. */
  async *changes(taskId: string, gone: AbortSignal): AsyncGenerator<true> {
    const changes = new LatestValue<true>();
    const tell = () => changes.tell(true);
    const end = () => changes.close();
    const fail = (error: Error) => {
      this.log.warn('task_watch_broke', { taskId, error });
      end();
    };
    const task = this.database.doc(taskPath(taskId));
    const stops = [task.onSnapshot(tell, fail), latestChunk(this.database, taskId).onSnapshot(tell, fail)];
    gone.addEventListener('abort', end, { once: true });
    if (gone.aborted) end();
    try {
      yield* changes.values();
    } finally {
      gone.removeEventListener('abort', end);
      for (const stop of stops) stop();
    }
  }

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

function narrowed(query: Query, { branch, project }: CodingFilter): Query {
  if (branch !== undefined) return query.where('coding.branch', '==', branch);
  if (project !== undefined) return query.where('coding.project', '==', project);
  return query.where('type', '==', 'coding');
}
