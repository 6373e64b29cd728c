/** Interfaces between the inbox rules and storage. */

import type { AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type { EventChanges } from '../../todo/index.ts';
import type { Request, RequestChanges, RequestState } from './request.ts';

export interface InboxPorts extends CoordinationPorts {
  readonly store: Store<InboxChange>;
  readonly requests: RequestQueries;
  readonly liveness: Pick<AgentLiveness, 'requireActable'>;
  /** Returns the agents that a person allows to answer for them. */
  readonly agentsMayAnswer: (uid: string) => Promise<readonly string[]>;
}

/** Selects requests to a person, by an agent, or by a person and their agents. */
export interface RequestFilter {
  readonly by: 'asked_of' | 'asked_by' | 'owner_uid';
  readonly uid: string;
  readonly workspace?: string | undefined;
  readonly states: readonly RequestState[];
}

export interface RequestQueries {
  find(id: string): Promise<Versioned<Request> | undefined>;
  /** Newest first. */
  list(requestFilter: RequestFilter, page: PageRequest): Promise<ListPage<Request>>;
  /** Returns open requests by a person and their agents, or to a person, ordered by id. */
  openBy(by: 'owner_uid' | 'asked_of', uid: string, limit: number, after?: string): Promise<readonly Request[]>;
  countOpen(askedBy: string): Promise<number>;
  /** Returns an asker's newest open requests. */
  openOf(askedBy: string, limit: number): Promise<readonly Versioned<Request>[]>;
  /** Returns open requests that have expired by `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Request>>>;
  /** Returns the newest request for a call. */
  latestOf(callKey: string): Promise<Versioned<Request> | undefined>;
  /** Returns requests whose approved call is due to run at `now`, oldest first. */
  approvedCallsDue(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Request>>;
  /** Yields the current request, and the request after each change, until `end` is aborted. */
  watch(id: string, end: AbortSignal): AsyncGenerator<Request, void, undefined>;
}

export type InboxChange = ChangeOf<RequestChanges & EventChanges> | CoordinationChange;
