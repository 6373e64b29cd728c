/** What the rules of questions read and write through. */

import type { AgentLiveness } from '../../../agents/rules/liveness.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { Batch, Page, Position, Slice } from '../../../kernel/paging.ts';
import type { CoordinationChange, CoordinationPorts } from '../../coordination/index.ts';
import type { EventChanges } from '../../todo/index.ts';
import type { Request, RequestChanges, RequestState } from './request.ts';

export interface InboxPorts extends CoordinationPorts {
  readonly store: Store<InboxChange>;
  readonly requests: RequestQueries;
  readonly liveness: Pick<AgentLiveness, 'actable'>;
  /** Which agents a person lets answer for them. */
  readonly agentsMayAnswer: (uid: string) => Promise<readonly string[]>;
}

/** Whose requests are listed: asked of a person, asked by an agent, or asked by a person and their agents. */
export interface RequestFilter {
  readonly by: 'asked_of' | 'asked_by' | 'owner_uid';
  readonly uid: string;
  readonly workspace?: string | undefined;
  readonly states: readonly RequestState[];
}

export interface RequestQueries {
  find(id: string): Promise<Versioned<Request> | undefined>;
  /** Newest first. */
  list(requestFilter: RequestFilter, page: Page): Promise<Slice<Request>>;
  /** Open ones that a person and their agents have asked, or that a person is asked, by id. */
  openBy(
    by: 'owner_uid' | 'asked_of',
    uid: string,
    limit: number,
    after?: string,
  ): Promise<readonly Request[]>;
  countOpen(askedBy: string): Promise<number>;
  /** The latest that somebody has asked and that are open. */
  openOf(askedBy: string, limit: number): Promise<readonly Versioned<Request>[]>;
  /** Those that are open though their time was over by `now`, longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Request>>>;
  /** The latest that was made for a call. */
  latestOf(callKey: string): Promise<Versioned<Request> | undefined>;
  /** Those whose approved call somebody is to look after by `now`, longest ago first. */
  toMake(now: Date, limit: number, after?: Position): Promise<Batch<Request>>;
  /** The request as it is now and after each change, until the signal. */
  watch(id: string, end: AbortSignal): AsyncGenerator<Request, void, undefined>;
}

export type InboxChange = ChangeOf<RequestChanges & EventChanges> | CoordinationChange;
