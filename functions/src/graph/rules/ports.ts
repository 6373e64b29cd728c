/** What the rules of the graph and of budgets read by, and what their store implements. */

import type { ChangeOf, TrailChanges, Versioned } from '../../kernel/commit.ts';
import type { Batch, Page, Position, Slice } from '../../kernel/paging.ts';
import type { BudgetChanges, CountedBudget, StoredBudget, StoredReservation } from './budget.ts';
import type { GraphChanges, NodeKind, NodeRef, PartsProgress, StoredNode } from './graphNode.ts';

export interface BudgetQueries {
  find(key: string): Promise<Versioned<StoredBudget> | undefined>;
  /** Those with a limit, in order, by a read per key and limit. None is stepped over if unreadable: it may be spent. */
  limited(keys: readonly string[]): Promise<readonly CountedBudget[]>;
  /** The limits with what is spent and reserved of each. */
  counted(limits: readonly StoredBudget[]): Promise<readonly CountedBudget[]>;
  /** Reservations of calls that are over by `now`, the longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<StoredReservation>>;
}

export interface GraphQueries {
  /** What is in the graph of these, in their order. */
  findAll(keys: readonly string[]): Promise<readonly (StoredNode | undefined)[]>;
  countParts(key: string): Promise<number>;
  /** How much below a thing is still open, and what of it has come to nothing, of that the first few. */
  progressOf(ref: NodeRef): Promise<PartsProgress>;
  /** What of all that is below has failed. What was cancelled is not wanted any more, and nothing waits for it. */
  failedBelow(key: string): Promise<readonly string[]>;
  /** The ids of what is directly part of a thing, of one kind, and open. */
  openParts(nodeRef: NodeRef, of: NodeKind): Promise<readonly string[]>;
  /** Everything below, in the order in which it was made. */
  below(key: string, page: Page): Promise<Slice<StoredNode>>;
}

export interface BudgetPorts {
  readonly budgets: BudgetQueries;
}

export type GraphChange = ChangeOf<GraphChanges & BudgetChanges & TrailChanges>;
