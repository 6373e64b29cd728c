/** Requests to people in Firestore, and queries for them. */
import { type DocumentSnapshot, FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { LatestValue } from '../../../kernel/concurrency.ts';
import { COLLECTIONS, requestPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters, EffectsOf } from '../../../kernel/firestore/store.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { QuestionChanges } from '../../coordination/index.ts';
import type { EventChanges } from '../../todo/index.ts';
import { questionNotification, resultRequest } from '../rules/asking.ts';
import type { RequestFilter, RequestQueries } from '../rules/ports.ts';
import { type Request, type RequestChanges, requestFromDocument, requestToDocument } from '../rules/request.ts';

export class FirestoreRequestQueries extends FirestoreReader implements RequestQueries {
  private readonly requests: Query = this.database.collection(COLLECTIONS.requests);

  async find(id: string): Promise<Versioned<Request> | undefined> {
    return this.documents.findVersioned(await this.database.doc(requestPath(id)).get(), requestFromDocument);
  }

  list({ by, uid, workspace, states }: RequestFilter, page: PageRequest): Promise<ListPage<Request>> {
    const own = this.requests.where(by, '==', uid);
    const there = workspace === undefined ? own : own.where('workspace', '==', workspace);
    const matching = there.where('state', 'in', states);
    return this.documents.slice(matching, ['created_at', 'desc'], page, requestFromDocument);
  }

  async openBy(by: 'owner_uid' | 'asked_of', uid: string, limit: number, after?: string): Promise<readonly Request[]> {
    const open = this.requests.where(by, '==', uid).where('state', '==', 'open');
    const ordered = open.orderBy(FieldPath.documentId());
    const page = after === undefined ? ordered : ordered.startAfter(after);
    const found = await this.documents.firstVersioned(page, limit, requestFromDocument);
    return found.map(({ value }) => value);
  }

  async countOpen(askedBy: string): Promise<number> {
    return (await this.openAskedBy(askedBy).count().get()).data().count;
  }

  async openOf(askedBy: string, limit: number): Promise<readonly Versioned<Request>[]> {
    return this.documents.firstVersioned(this.openAskedBy(askedBy), limit, requestFromDocument);
  }

  watchOpenOf(askedBy: string, changed: () => void, failed: (error: unknown) => void): () => void {
    return this.openAskedBy(askedBy).onSnapshot(changed, failed);
  }

  private openAskedBy(askedBy: string): Query {
    const open = this.requests.where('asked_by', '==', askedBy).where('state', '==', 'open');
    return open.orderBy('created_at', 'desc');
  }

  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Request>>> {
    const open = this.requests.where('state', '==', 'open');
    return readDue(open, 'expires_at', { now, limit, after }, (snapshot) =>
      this.documents.readableVersioned(snapshot, requestFromDocument),
    );
  }

  async latestOf(callKey: string): Promise<Versioned<Request> | undefined> {
    const same = this.requests.where('call_key', '==', callKey).orderBy('created_at', 'desc');
    return (await this.documents.firstVersioned(same, 1, requestFromDocument))[0];
  }

  approvedCallsDue(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Request>> {
    return readDue(this.requests, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, requestFromDocument),
    );
  }

  async *watch(id: string, end: AbortSignal): AsyncGenerator<Request, void, undefined> {
    const latest = new LatestValue<Request>();
    const listener = (snapshot: DocumentSnapshot): void => {
      for (const request of this.documents.readable(snapshot, requestFromDocument)) latest.set(request);
    };
    yield* latest.until(end, this.database.doc(requestPath(id)).onSnapshot(listener, latest.fail));
  }
}

/** Audit entries of requests. Texts are omitted from the entries, because leaders can read the audit log. */
export const requestEffects: EffectsOf<RequestChanges> = {
  createRequest: ({ request }) => ({ ...requestNames(request), after: { state: request.state } }),
  replaceRequest: ({ request, before }) => ({
    ...requestNames(request),
    before: stateOf(before),
    after: stateOf(request),
  }),
};

/** Returns the fields that change if the request is answered or the answer is changed. */
function stateOf({ state, changed_at }: Request) {
  return { state, ...(changed_at && { changed_at }) };
}

export const questionEffects: EffectsOf<QuestionChanges> = {
  askAboutResult: ({ question }) => ({
    ...requestNames(resultRequest(question)),
    after: { state: 'open', proves: question.proves.task_id },
  }),
  withdrawQuestion({ id, workspace, about }) {
    const states = { before: { state: 'open', proves: null }, after: { state: 'withdrawn', proves: about } };
    return { kind: 'request', id, workspace, ...states };
  },
};

/** Writers of questions about results. `recordEvent`: writer of the event that notifies the person. */
export const questionWriters = (
  recordEvent: ChangeWriters<EventChanges>['recordEvent'],
): ChangeWriters<QuestionChanges> => ({
  askAboutResult({ question }, writes) {
    const request = resultRequest(question);
    requestWriters.createRequest({ request }, writes);
    recordEvent({ event: questionNotification(request) }, writes);
  },
  withdrawQuestion({ id, at }, writes) {
    writes.updateIfExists(requestPath(id), [
      ['state', 'withdrawn'],
      ['settled_at', at],
    ]);
  },
});

function requestNames({ id, workspace, owner_uid }: Request) {
  return { kind: 'request', id, workspace, owner_uid };
}

export const requestWriters: ChangeWriters<RequestChanges> = {
  createRequest({ request }, writes) {
    writes.createPermanent(requestPath(request.id), requestToDocument(request));
  },
  replaceRequest({ request, version }, writes) {
    // An update keeps fields that the document omits, so due_at is deleted unless the document sets it.
    const document = { due_at: FieldValue.delete(), ...requestToDocument(request) };
    writes.replaceLatest(requestPath(request.id), document, version);
  },
};
