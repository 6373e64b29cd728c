import type { DocumentSnapshot, Firestore, Query } from '@google-cloud/firestore';
import type { JournalEntry } from '../../domain/orchestration/runs/journalEntry.ts';
import type { RunReader } from '../../domain/orchestration/runs/ports.ts';
import type { Run, RunOrder, RunStatus, StepRecord } from '../../domain/orchestration/runs/run.ts';
import type { Log } from '../../domain/ports.ts';
import type { Batch, Page, Position, Slice } from '../../domain/readers.ts';
import type { Versioned } from '../../domain/store.ts';
import { readDue } from './dueBatch.ts';
import { LatestValue } from './latestValue.ts';
import { COLLECTIONS, runCallsPath, runOrderPath, runPath, runStepsPath } from './paths.ts';
import { orderFromDocument, runFromDocument } from './runDocument.ts';
import { callFromDocument, stepFromDocument } from './runStepDocument.ts';
import { readSlice } from './slice.ts';
import { versioned } from './timestamp.ts';

export class FirestoreRunReader implements RunReader {
  private readonly database: Firestore;
  private readonly log: Log;

  constructor(database: Firestore, log: Log) {
    this.database = database;
    this.log = log;
  }

  async find(runId: string): Promise<Versioned<Run> | undefined> {
    const snapshot = await this.database.doc(runPath(runId)).get();
    if (snapshot.updateTime === undefined) return undefined;
    const data = snapshot.data();
    return versioned(runFromDocument(data), snapshot.updateTime, data);
  }

  async order(runId: string): Promise<RunOrder> {
    return orderFromDocument((await this.database.doc(runOrderPath(runId)).get()).data());
  }

  async steps(runId: string): Promise<readonly StepRecord[]> {
    const { docs } = await this.database.collection(runStepsPath(runId)).orderBy('number').get();
    return docs.map((snapshot) => stepFromDocument(snapshot.data()));
  }

  async journal(runId: string, stepId: string): Promise<readonly JournalEntry[]> {
    const { docs } = await this.database.collection(runCallsPath(runId)).where('step', '==', stepId).get();
    return docs.map((snapshot) => callFromDocument(snapshot.data()));
  }

  list(ownerUid: string, status: RunStatus | undefined, page: Page): Promise<Slice<Run>> {
    const own = this.runs.where('owner_uid', '==', ownerUid);
    const matching = status === undefined ? own : own.where('status', '==', status);
    return readSlice(matching, 'created_at', 'desc', page, runFromDocument);
  }

  due(now: Date, limit: number, after?: Position): Promise<Batch<Run>> {
    return readDue(
      { query: this.runs, time: 'due_at' },
      { now, limit, after },
      (snapshot) => runFromDocument(snapshot.data()),
      (runId, error) => this.log.error('run_unreadable', { runId, error }),
    );
  }

  async *watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined> {
    const latest = new LatestValue<Run>();
    const told = ({ exists, data }: Pick<DocumentSnapshot, 'exists'> & { data: unknown }) => {
      if (exists) latest.tell(runFromDocument(data));
    };
    const stop = this.database
      .doc(runPath(runId))
      .onSnapshot((snapshot) => told({ exists: snapshot.exists, data: snapshot.data() }), latest.fail);
    const close = () => latest.close();
    end.addEventListener('abort', close, { once: true });
    try {
      if (end.aborted) return;
      yield* latest.values();
    } finally {
      end.removeEventListener('abort', close);
      stop();
    }
  }

  private get runs(): Query {
    return this.database.collection(COLLECTIONS.runs);
  }
}
