import type { Firestore, Query } from '@google-cloud/firestore';
import { LatestValue } from '../../../kernel/concurrency.ts';
import { COLLECTIONS, taskPath, taskResultPath } from '../../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { Log } from '../../../kernel/ports.ts';
import {
  asCodingTask,
  type CodingTask,
  resultPartFromDocument,
  type StoredResult,
  type TaskStatus,
  taskFromDocument,
} from '../../coordination/index.ts';
import type { CodingFilter, CodingTaskQueries } from '../rules/ports.ts';
import { latestChunk } from './logs.ts';

export class FirestoreCodingTaskQueries extends FirestoreReader implements CodingTaskQueries {
  private readonly tasks: Query = this.database.collection(COLLECTIONS.tasks);
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
}

function filtered(query: Query, { branch, project }: CodingFilter): Query {
  if (branch !== undefined) return query.where('coding.branch', '==', branch);
  if (project !== undefined) return query.where('coding.project', '==', project);
  return query.where('type', '==', 'coding');
}
