/** Listens to what coding tasks are watched for, for as long as somebody waits. */
import type { DocumentSnapshot, Firestore } from '@google-cloud/firestore';
import type { CodingWatch } from '../../domain/coding/readers.ts';
import type { Log } from '../../domain/ports.ts';
import type { QueueMark } from '../../domain/tasks/claims.ts';
import { sessionPath, taskPath, workspacePath } from './paths.ts';
import type { DocumentReading } from './reading.ts';
import { sessionFromDocument } from './sessionDocument.ts';
import { latestChunk } from './taskLogReader.ts';

export class FirestoreCodingWatch implements CodingWatch {
  private readonly database: Firestore;
  private readonly documents: DocumentReading;
  private readonly log: Log;

  constructor(database: Firestore, documents: DocumentReading, log: Log) {
    this.database = database;
    this.documents = documents;
    this.log = log;
  }

  /** The session grows with its queue; where there is none yet, its workspace will name one. */
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
