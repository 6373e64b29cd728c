/** Ports of the graph and budget rules. */

import type { AuditChanges, ChangeOf, Versioned } from '../../kernel/commit.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../kernel/paging.ts';
import type { BudgetChanges, CountedBudget, StoredBudget, StoredReservation } from './budget.ts';
import type { GraphChanges, NodeKind, NodeRef, PartsProgress, StoredNode } from './graphNode.ts';

export interface BudgetQueries {
  find(key: string): Promise<Versioned<StoredBudget> | undefined>;
  /** Returns budgets with a limit, in key order. Throws if one is unreadable, because it may be exhausted. */
  limited(keys: readonly string[]): Promise<readonly CountedBudget[]>;
  /** Returns budgets with their spent and reserved amounts. */
  counted(limits: readonly StoredBudget[]): Promise<readonly CountedBudget[]>;
  /** Returns reservations of calls that have ended by `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<StoredReservation>>;
}

export interface GraphQueries {
  /** Returns the nodes in the order of the keys; undefined for items that are not in the graph. */
  findAll(keys: readonly string[]): Promise<readonly (StoredNode | undefined)[]>;
  countParts(key: string): Promise<number>;
  /** Returns the number of open descendants, and the first few failed ones. */
  progressOf(ref: NodeRef): Promise<PartsProgress>;
  /** Returns the first few failed descendants. Cancelled ones are not included, because nothing waits for them. */
  failedDescendants(key: string): Promise<readonly string[]>;
  /** Returns the ids of an item's open direct parts of one kind. */
  openParts(nodeRef: NodeRef, of: NodeKind): Promise<readonly string[]>;
  /** Returns descendants in order of creation. */
  descendants(key: string, page: PageRequest): Promise<ListPage<StoredNode>>;
}

export interface BudgetPorts {
  readonly budgets: BudgetQueries;
}

export type GraphChange = ChangeOf<GraphChanges & BudgetChanges & AuditChanges>;
