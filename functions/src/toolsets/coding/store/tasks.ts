import { type DocumentSnapshot, type Firestore, type Query, Timestamp } from '@google-cloud/firestore';
import { deferred, LatestValue } from '../../../kernel/concurrency.ts';
import {
  COLLECTIONS,
  queueShardsPath,
  sessionPath,
  taskPath,
  taskResultPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { timeOf } from '../../../kernel/firestore/verifiedCommit.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { Log } from '../../../kernel/ports.ts';
import {
  asCodingTask,
  type CodingTask,
  type QueueMark,
  resultPartFromDocument,
  type StoredResult,
  type TaskStatus,
  taskFromDocument,
} from '../../coordination/index.ts';
import type { CodingFilter, CodingTaskQueries } from '../rules/ports.ts';
import { latestChunk } from './logs.ts';

/** Maximum time between a server timestamp in a document's field and the document's later update time. */
const CLOCK_MARGIN_MS = 10_000;

export class FirestoreCodingTaskQueries extends FirestoreReader implements CodingTaskQueries {
  private readonly log: Log;

  constructor(database: Firestore, documents: DocumentReading, log: Log) {
    super(database, documents);
    this.log = log;
  }

  list(workspace: string, filter: CodingFilter, page: PageRequest): Promise<ListPage<CodingTask>> {
    const own = filtered(this.tasks.where('workspace', '==', workspace), filter);
    return this.documents.slice(own, ['created_at', 'desc'], page, (data) => asCodingTask(taskFromDocument(data)));
  }

  async count(workspace: string, statuses: readonly TaskStatus[]): Promise<number> {
    const counted = this.tasks
      .where('workspace', '==', workspace)
      .where('type', '==', 'coding')
      .where('status', 'in', [...statuses]);
    return (await counted.count().get()).data().count;
  }

  async result(taskId: string, { claim_epoch: epoch, parts }: StoredResult): Promise<string> {
    const paths = Array.from({ length: parts }, (_, part) => taskResultPath(taskId, epoch, part));
    const snapshots = await this.database.getAll(...paths.map((path) => this.database.doc(path)));
    return snapshots.map((snapshot) => this.documents.value(snapshot, resultPartFromDocument)).join('');
  }

  async queueGrowth(workspace: string, { session, readAt }: QueueMark, until: AbortSignal): Promise<void> {
    if (until.aborted) return;
    const { promise: end, resolve } = deferred();
    const fail = (error: Error) => this.log.warn('queue_watch_broke', { workspace, error });
    const stops =
      session === undefined || readAt === undefined
        ? [watchNamed(this.database, workspace, resolve, fail)]
        : watchGrowth(this.database, { workspace, id: session, readAt: timeOf(readAt) }, resolve, fail);
    until.addEventListener('abort', resolve);
    await end;
    until.removeEventListener('abort', resolve);
    for (const stop of stops) stop();
  }

  async *changes(taskId: string, disconnected: AbortSignal): AsyncGenerator<true> {
    const changes = new LatestValue<true>();
    const tell = () => changes.set(true);
    const fail = (error: Error) => {
      this.log.warn('task_watch_broke', { taskId, error });
      changes.close();
    };
    const task = this.database.doc(taskPath(taskId));
    const stops = [task.onSnapshot(tell, fail), latestChunk(this.database, taskId).onSnapshot(tell, fail)];
    yield* changes.until(disconnected, () => {
      for (const stop of stops) stop();
    });
  }

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

function watchNamed(
  database: Firestore,
  workspace: string,
  named: () => void,
  fail: (error: Error) => void,
): () => void {
  return database.doc(workspacePath(workspace)).onSnapshot((snapshot) => {
    if (snapshot.get('session') !== undefined) named();
  }, fail);
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

function filtered(query: Query, { branch, project }: CodingFilter): Query {
  if (branch !== undefined) return query.where('coding.branch', '==', branch);
  if (project !== undefined) return query.where('coding.project', '==', project);
  return query.where('type', '==', 'coding');
}
