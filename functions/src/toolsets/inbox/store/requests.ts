/** Questions to people as Firestore keeps them, and how they are found and watched. */
import { type DocumentSnapshot, FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import { lineage } from '../../../access/store/lineage.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, jsonText, timestamp } from '../../../kernel/firestore/codec.ts';
import { COLLECTIONS, requestPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { EffectsOf } from '../../../kernel/firestore/trail.ts';
import type { Batch, Page, Position, Slice } from '../../../kernel/paging.ts';
import { LatestValue } from '../../../kernel/waiting.ts';
import { REQUEST_KINDS, REQUEST_STATES, type RequestChanges, type RequestState } from '../rules/request.ts';

const codec = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    kind: z.enum(REQUEST_KINDS),
    question: z.string(),
    /** Of a choice; empty otherwise. */
    options: z.array(z.string()),
    /** The task that waits for the answer. */
    task_id: z.string().nullable(),
    /** The uid of who asked, the id of the agent that did, and the uid of its owner or of the person themselves. */
    asked_by: z.string(),
    asked_by_agent: z.string().nullable(),
    owner_uid: z.string(),
    /** The uid of the person who is asked, and their name then. */
    asked_of: z.string(),
    asked_of_name: z.string(),
    state: z.enum(REQUEST_STATES),
    answer: z.string().nullable(),
    comment: z.string().nullable(),
    /** The uid of who answered; where an agent did for its person, the agent's id as well. */
    answered_by: z.string().nullable(),
    answered_by_agent: z.string().nullable(),
    created_at: timestamp,
    expires_at: timestamp,
    settled_at: timestamp.nullable(),
    /** The answer that holds when it expires. */
    default: z.string().nullable(),
    /** The call that is made once the request is approved, as whom it was made, and what its credential opened. */
    call: z
      .object({
        tool: z.string(),
        arguments: jsonText,
        toolsets: z.array(z.string()).nullable(),
        held_to: z.string().nullable(),
        readonly: z.boolean(),
        grant: z.string().nullable(),
        lineage: lineage.exactOptional(),
      })
      .nullable(),
    /** The call loosens a limit: no agent answers for the person. */
    in_person: z.literal(true).exactOptional(),
    /** The limits that the call would loosen, as the person is shown them. The approval covers nothing else. */
    would: z.array(z.string()).exactOptional(),
    /** The person was asked at the asker's client as well, and has not answered there. */
    put_off: z.boolean(),
    /** A digest of who called what: the same call again is the same request. */
    call_key: z.string().nullable(),
    /** While an approved call is to be made: when somebody is to look after it. An instance makes it until then. */
    due_at: timestamp.exactOptional(),
    /** How often an instance has taken the call on. */
    execution_epoch: z.int(),
    /** Why it was withdrawn, if not by its asker or their owner: the credential that made the call was revoked. */
    withdrawn_because: z.literal('REVOKED').exactOptional(),
    /** What came of the call: its answer, or its error. */
    outcome: jsonText.nullable(),
  }),
  { default: 'defaultAnswer', execution_epoch: 'epoch' },
);

export const requestToDocument = codec.toDocument;

export const requestFromDocument = codec.fromDocument;

export type StoredRequest = ReturnType<typeof codec.fromDocument>;

/** Whose requests are listed: asked of a person, asked by an agent, or asked by a person and their agents. */
export interface RequestFilter {
  readonly by: 'asked_of' | 'asked_by' | 'owner_uid';
  readonly uid: string;
  /** The only workspace. */
  readonly workspace?: string | undefined;
  readonly states: readonly RequestState[];
}

export class RequestQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<StoredRequest> | undefined> {
    return this.documents.findVersioned(await this.database.doc(requestPath(id)).get(), requestFromDocument);
  }

  /** Newest first. */
  list({ by, uid, workspace, states }: RequestFilter, page: Page): Promise<Slice<StoredRequest>> {
    const own = this.requests.where(by, '==', uid);
    const there = workspace === undefined ? own : own.where('workspace', '==', workspace);
    const matching = there.where('state', 'in', states);
    return this.documents.slice(matching, 'created_at', 'desc', page, requestFromDocument);
  }

  /** Open ones that a person and their agents have asked, or that a person is asked, by id. */
  async openBy(
    by: 'owner_uid' | 'asked_of',
    uid: string,
    limit: number,
    after?: string,
  ): Promise<readonly StoredRequest[]> {
    const open = this.requests.where(by, '==', uid).where('state', '==', 'open');
    const ordered = open.orderBy(FieldPath.documentId());
    const page = after === undefined ? ordered : ordered.startAfter(after);
    const found = await this.documents.firstVersioned(page, limit, requestFromDocument);
    return found.map(({ value }) => value);
  }

  /** How many that somebody has asked are open. */
  async countOpen(askedBy: string): Promise<number> {
    const open = this.requests.where('asked_by', '==', askedBy).where('state', '==', 'open');
    return (await open.orderBy('created_at', 'desc').count().get()).data().count;
  }

  /** The latest that somebody has asked and that are open. */
  async openOf(askedBy: string, limit: number): Promise<readonly Versioned<StoredRequest>[]> {
    const open = this.requests.where('asked_by', '==', askedBy).where('state', '==', 'open');
    return this.documents.firstVersioned(open.orderBy('created_at', 'desc'), limit, requestFromDocument);
  }

  /** Those that are open though their time was over by `now`, longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<StoredRequest>>> {
    const open = this.requests.where('state', '==', 'open');
    return readDue(open, 'expires_at', { now, limit, after }, (snapshot) =>
      this.documents.readableVersioned(snapshot, requestFromDocument),
    );
  }

  /** The latest that was made for a call. */
  async latestOf(callKey: string): Promise<Versioned<StoredRequest> | undefined> {
    const same = this.requests.where('call_key', '==', callKey).orderBy('created_at', 'desc');
    return (await this.documents.firstVersioned(same, 1, requestFromDocument))[0];
  }

  /** Those whose approved call somebody is to look after by `now`, longest ago first. */
  toMake(now: Date, limit: number, after?: Position): Promise<Batch<StoredRequest>> {
    return readDue(this.requests, 'due_at', { now, limit, after }, (snapshot) =>
      this.documents.readable(snapshot, requestFromDocument),
    );
  }

  /** The request as it is now and after each change, until the signal. */
  async *watch(id: string, end: AbortSignal): AsyncGenerator<StoredRequest, void, undefined> {
    const latest = new LatestValue<StoredRequest>();
    const told = (snapshot: DocumentSnapshot): void => {
      for (const request of this.documents.readable(snapshot, requestFromDocument)) latest.tell(request);
    };
    const close = () => latest.close();
    const stop = this.database.doc(requestPath(id)).onSnapshot(told, latest.fail);
    end.addEventListener('abort', close, { once: true });
    try {
      if (end.aborted) return;
      yield* latest.values();
    } finally {
      end.removeEventListener('abort', close);
      stop();
    }
  }

  private get requests(): Query {
    return this.database.collection(COLLECTIONS.requests);
  }
}

/** Audit entries of requests: their texts are for the asker's owner and the person asked, and leaders read entries, too. */
export const requestEffects: EffectsOf<RequestChanges> = {
  createRequest: ({ request }) => ({ ...namedOf(request), after: { state: request.state } }),
  replaceRequest: ({ request, before }) => ({
    ...namedOf(request),
    before: { state: before.state },
    after: { state: request.state },
  }),
};

function namedOf({ id, workspace, ownerUid }: StoredRequest) {
  return { kind: 'request', id, workspace, ownerUid };
}

export const requestWriters: ChangeWriters<RequestChanges> = {
  createRequest({ request }, writes) {
    writes.createLasting(requestPath(request.id), requestToDocument(request));
  },
  replaceRequest({ request, version }, writes) {
    // An update keeps the fields that it does not name.
    const document = { due_at: FieldValue.delete(), ...requestToDocument(request) };
    writes.replaceLatest(requestPath(request.id), document, version);
  },
};
