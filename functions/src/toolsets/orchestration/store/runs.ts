/** Stores runs in Firestore, with their steps, journals and cached answers. */
import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { z } from 'zod/mini';
import { writeNode } from '../../../graph/store/nodes.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { LatestValue } from '../../../kernel/concurrency.ts';
import { documentCodec } from '../../../kernel/documentCodec.ts';
import { deleteFound } from '../../../kernel/firestore/client.ts';
import {
  COLLECTIONS,
  cachedResponsePath,
  runCallsPath,
  runOrderPath,
  runPath,
  runStepsPath,
} from '../../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import { callFromDocument, callToDocument, type JournalEntry } from '../rules/calls/attempt.ts';
import type { RunFilter, RunQueries } from '../rules/ports.ts';
import {
  orderFromDocument,
  orderToDocument,
  type Run,
  type RunChanges,
  type RunOrder,
  type RunStatus,
  runFromDocument,
  runToDocument,
} from '../rules/runs/run.ts';
import { runNode } from '../rules/runs/runNode.ts';
import { type StepRecord, stepFromDocument, stepToDocument } from '../rules/steps/step.ts';

export const OPEN_RUNS: readonly RunStatus[] = ['pending', 'running', 'waiting'];

export class FirestoreRunQueries extends FirestoreReader implements RunQueries {
  private readonly runs: Query = this.database.collection(COLLECTIONS.runs);

  async find(runId: string): Promise<Versioned<Run> | undefined> {
    return this.documents.findVersioned(await this.database.doc(runPath(runId)).get(), runFromDocument);
  }

  async order(runId: string): Promise<RunOrder> {
    return this.documents.value(await this.database.doc(runOrderPath(runId)).get(), orderFromDocument);
  }

  async steps(runId: string): Promise<readonly StepRecord[]> {
    const { docs } = await this.database.collection(runStepsPath(runId)).orderBy('number').get();
    return docs.map((snapshot) => this.documents.value(snapshot, stepFromDocument));
  }

  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]> {
    return this.entries(this.database.collection(runCallsPath(runId)).where('step', '==', stepId));
  }

  calls(runId: string): Promise<readonly JournalEntry[]> {
    return this.entries(this.database.collection(runCallsPath(runId)));
  }

  private async entries(query: Query): Promise<readonly JournalEntry[]> {
    return (await query.get()).docs.map((snapshot) => this.documents.value(snapshot, callFromDocument));
  }

  list(ownerUid: string, { status, workspace }: RunFilter, page: PageRequest): Promise<ListPage<Run>> {
    const own = this.runs.where('owner_uid', '==', ownerUid);
    const there = workspace === undefined ? own : own.where('workspace', '==', workspace);
    const matching = status === undefined ? there : there.where('status', '==', status);
    return this.documents.slice(matching, ['created_at', 'desc'], page, runFromDocument);
  }

  openOf(ownerUid: string, limit: number, after?: string): Promise<readonly Run[]> {
    return this.open(this.runs.where('owner_uid', '==', ownerUid), limit, after);
  }

  openIn(workspace: string, limit: number, after?: string): Promise<readonly Run[]> {
    return this.open(this.runs.where('workspace', '==', workspace), limit, after);
  }

  private async open(query: Query, limit: number, after: string | undefined): Promise<readonly Run[]> {
    const ordered = query.where('status', 'in', OPEN_RUNS).orderBy(FieldPath.documentId());
    const page = after === undefined ? ordered : ordered.startAfter(after);
    return (await this.documents.firstVersioned(page, limit, runFromDocument)).map(({ value }) => value);
  }

  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Run>> {
    return readDue(this.runs, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, runFromDocument),
    );
  }

  endedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Run>>> {
    return readDue(this.runs, 'ended_at', { now, limit, after }, (snapshot) =>
      this.documents.readableVersioned(snapshot, runFromDocument),
    );
  }

  async deleteBelow(runId: string): Promise<void> {
    for (const below of [runStepsPath(runId), runCallsPath(runId)]) await deleteFound(this.database.collection(below));
    await this.database.doc(runOrderPath(runId)).delete();
  }

  async waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]> {
    const waiting = this.runs.where('budget_wait.key', '==', budgetKey).orderBy(FieldPath.documentId());
    const page = after === undefined ? waiting : waiting.startAfter(after);
    return (await page.limit(limit).select().get()).docs.map(({ id }) => id);
  }

  async *watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined> {
    const latest = new LatestValue<Run>();
    const listener = (snapshot: DocumentSnapshot): void => {
      // An exception in this listener would terminate the process.
      try {
        const run = this.documents.find(snapshot, runFromDocument);
        if (run !== undefined) latest.set(run);
      } catch (error) {
        latest.fail(error);
      }
    };
    yield* latest.until(end, this.database.doc(runPath(runId)).onSnapshot(listener, latest.fail));
  }

  async answer(key: string): Promise<Versioned<{ readonly run_id: string }> | undefined> {
    return this.documents.findVersioned(await this.database.doc(cachedResponsePath(key)).get(), answerFromDocument);
  }
}

export const runWriters: ChangeWriters<RunChanges> = {
  createRun({ run, order }, writes) {
    writes.createPermanent(runPath(run.id), runToDocument(run));
    writes.create(runOrderPath(run.id), orderToDocument(order));
    writeNode(undefined, runNode(run), writes);
  },
  replaceRun({ before, run, version }, writes) {
    writes.replaceLatest(runPath(run.id), runToDocument(run), version);
    writeNode(runNode(before), runNode(run), writes);
  },
  removeRun({ run, version }, writes) {
    writes.deleteAt(runPath(run.id), version);
    const node = runNode(run);
    writeNode(node, { ...node, deleted: true }, writes);
  },
  recordStep({ runId, step }, writes) {
    writes.set(`${runStepsPath(runId)}/${step.id}`, stepToDocument(step));
  },
  startCall({ runId, entry }, writes) {
    writes.createPermanent(`${runCallsPath(runId)}/${entry.id}`, callToDocument(entry));
  },
  completeCall({ runId, entry }, writes) {
    writes.updatePermanent(`${runCallsPath(runId)}/${entry.id}`, callToDocument(entry));
  },
  cacheResponse({ key, runId, expiresAt, replaces }, writes) {
    writes.createOrReplace(cachedResponsePath(key), { run_id: runId, expires_at: expiresAt }, replaces);
  },
};

/** The document `answerCache/{key}`: the id of the run with the cached answer. */
export const { fromDocument: answerFromDocument } = documentCodec(z.object({ run_id: z.string() }));
