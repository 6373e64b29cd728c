import type { Firestore, Query } from '@google-cloud/firestore';
import type { CodingFilter, CodingTaskReader } from '../../domain/coding/readers.ts';
import { asCodingTask, type CodingTask } from '../../domain/coding/task.ts';
import type { StoredResult } from '../../domain/coding/work.ts';
import type { Page, Slice } from '../../domain/readers.ts';
import type { TaskStatus } from '../../domain/tasks/task.ts';
import { resultPartFromDocument } from './codingDocument.ts';
import { COLLECTIONS, taskResultPath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { taskFromDocument } from './taskDocument.ts';

export class FirestoreCodingTaskReader implements CodingTaskReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

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

  async result(taskId: string, { epoch, parts }: StoredResult): Promise<string> {
    const paths = Array.from({ length: parts }, (_, part) => taskResultPath(taskId, epoch, part));
    const snapshots = await this.database.getAll(...paths.map((path) => this.database.doc(path)));
    return snapshots.map((snapshot) => this.documents.value(snapshot, resultPartFromDocument)).join('');
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
