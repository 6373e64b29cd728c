/** Ports of the inbox rules, implemented by its store. */
import type { AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { CoordinationChange, CoordinationPorts, Proofs } from '../../coordination/index.ts';
import type { EventChanges } from '../../todo/index.ts';
import type { Request, RequestChanges, RequestState } from './request.ts';

export interface InboxPorts extends CoordinationPorts {
  readonly store: Store<InboxChange>;
  readonly requests: RequestQueries;
  readonly proofs: Pick<Proofs, 'judged'>;
  readonly liveness: Pick<AgentLiveness, 'requireActable'>;
  readonly agentsMayAnswer: (uid: string) => Promise<readonly string[]>;
}

/** Selects requests that a person received, that an agent made, or that a person and their agents made. */
export interface RequestFilter {
  readonly by: 'asked_of' | 'asked_by' | 'owner_uid';
  readonly uid: string;
  readonly workspace?: string | undefined;
  readonly states: readonly RequestState[];
}

export interface RequestQueries {
  find(id: string): Promise<Versioned<Request> | undefined>;
  /** Returns a page of requests, newest first. */
  list(requestFilter: RequestFilter, page: PageRequest): Promise<ListPage<Request>>;
  /** Returns open requests that a person or their agents made, or that a person received, in the order of ids. */
  openBy(by: 'owner_uid' | 'asked_of', uid: string, limit: number, after?: string): Promise<readonly Request[]>;
  countOpen(askedBy: string): Promise<number>;
  /** Returns the newest open requests of an asker. */
  openOf(askedBy: string, limit: number): Promise<readonly Versioned<Request>[]>;
  /** Returns open requests whose time was over by `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Request>>>;
  /** Returns the newest request for approval of a call. */
  latestOf(callKey: string): Promise<Versioned<Request> | undefined>;
  /** Returns requests whose approved call must run by `now`, oldest first. */
  approvedCallsDue(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Request>>;
  /** Yields the request at once, and again after each change, until `end` is aborted. */
  watch(id: string, end: AbortSignal): AsyncGenerator<Request, void, undefined>;
  /** Reports when an asker's open requests change, and once at the start. Returns a function that ends this. */
  watchOpenOf(askedBy: string, changed: () => void, failed: (error: unknown) => void): () => void;
}

export type InboxChange = ChangeOf<RequestChanges & EventChanges> | CoordinationChange;
