/** How coding tasks are found, watched and written. */
import type { DocumentSnapshot, Firestore, Query } from '@google-cloud/firestore';
import {
  COLLECTIONS,
  sessionPath,
  taskLogChunkPath,
  taskPath,
  taskResultPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import type { DocumentReading } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { Log } from '../../../kernel/ports.ts';
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
import type { CodingChanges, CodingFilter } from '../rules/log.ts';
import { chunkToDocument, latestChunk, linesToFields } from './logs.ts';

export class FirestoreCodingTaskReader {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
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

  private get tasks(): Query {
    return this.database.collection(COLLECTIONS.tasks);
  }
}

export type CodingTaskReader = Pick<FirestoreCodingTaskReader, keyof FirestoreCodingTaskReader>;

function narrowed(query: Query, { branch, project }: CodingFilter): Query {
  if (branch !== undefined) return query.where('coding.branch', '==', branch);
  if (project !== undefined) return query.where('coding.project', '==', project);
  return query.where('type', '==', 'coding');
}

// Listens to what coding tasks are watched for, for as long as somebody waits.

export class FirestoreCodingWatch {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;
  private readonly log: Log;

  constructor(database: Firestore, documents: DocumentReading, log: Log) {
    this.database = database;
    this.documents = documents;
    this.log = log;
  }

  /**
   * Resolves when more may be claimable than at the mark, or when `until` is aborted. It watches the session,
   * whose version grows with its queue; where there is none yet, it watches the workspace, which will name one.
   */
  queueGrowth(workspace: string, { session, queueVersion }: QueueMark, until: AbortSignal): Promise<void> {
    const path = session === undefined ? workspacePath(workspace) : sessionPath(workspace, session);
    const hasGrown = (snapshot: DocumentSnapshot): boolean => {
      if (session === undefined) return snapshot.exists;
      // Of a session that cannot be read the claim that follows says so.
      const [found] = this.documents.readable(snapshot, sessionFromDocument);
      return found === undefined || found.queueVersion > queueVersion;
    };
    return new Promise((resolve) => {
      let stop = (): void => undefined;
      const end = (): void => {
        until.removeEventListener('abort', end);
        stop();
        resolve();
      };
      if (until.aborted) return end();
      until.addEventListener('abort', end, { once: true });
      stop = this.database.doc(path).onSnapshot(
        (snapshot) => {
          if (hasGrown(snapshot)) end();
        },
        (error) => this.log.warn('queue_watch_broke', { workspace, error }),
      );
    });
  }

  /** Yields when a task or its log has changed, first for what is there, until `gone`. */
  async *task(taskId: string, gone: AbortSignal): AsyncGenerator<undefined> {
    let changed = false;
    let isOver = false;
    let wake = (): void => undefined;
    const tell = (): void => {
      changed = true;
      wake();
    };
    const end = (error?: Error): void => {
      if (error) this.log.warn('task_watch_broke', { taskId, error });
      isOver = true;
      wake();
    };
    const task = this.database.doc(taskPath(taskId));
    const stops = [task.onSnapshot(tell, end), latestChunk(this.database, taskId).onSnapshot(tell, end)];
    const onGone = (): void => end();
    gone.addEventListener('abort', onGone, { once: true });
    try {
      while (!isOver && !gone.aborted) {
        if (changed) {
          changed = false;
          yield undefined;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      gone.removeEventListener('abort', onGone);
      for (const stop of stops) stop();
    }
  }
}

export type CodingWatch = Pick<FirestoreCodingWatch, keyof FirestoreCodingWatch>;

export const codingWriters: ChangeWriters<CodingChanges> = {
  appendLog({ task, write, version }, writes) {
    const path = taskLogChunkPath(task.id, write.head.chunk);
    if (version === undefined) writes.createLasting(path, chunkToDocument(task, write));
    else writes.replaceLatest(path, linesToFields(task, write), version);
    if (write.drops !== undefined) writes.delete(taskLogChunkPath(task.id, write.drops));
  },
  storeResult({ taskId, epoch, parts }, writes) {
    for (const [part, json] of parts.entries()) writes.set(taskResultPath(taskId, epoch, part), { json });
  },
};
