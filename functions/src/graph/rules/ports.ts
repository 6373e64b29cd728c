/** Ports of the graph and budget rules, implemented by their stores. */
import type { AuditChanges, ChangeOf, Versioned } from '../../kernel/commit.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../kernel/paging.ts';
import type { Budget, BudgetChanges, CountedBudget, Reservation } from './budget.ts';
import type { GraphChanges, NodeKind, NodeRef, PartsProgress, StoredNode } from './graphNode.ts';

export interface BudgetQueries {
  find(key: string): Promise<Versioned<Budget> | undefined>;
  /** Returns the budgets with a limit, by key order. Throws if one is unreadable, because it may be exhausted. */
  limited(keys: readonly string[]): Promise<readonly CountedBudget[]>;
  counted(limits: readonly Budget[]): Promise<readonly CountedBudget[]>;
  /** Returns reservations of calls that must have ended by `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Reservation>>;
}

export interface GraphQueries {
  /** Returns the nodes in the order of the keys, with undefined for items that are not in the graph. */
  findAll(keys: readonly string[]): Promise<readonly (StoredNode | undefined)[]>;
  countParts(key: string): Promise<number>;
  /** Returns the number of open descendants, and the first few failed descendants. */
  progressOf(ref: NodeRef): Promise<PartsProgress>;
  /** Returns the first few failed descendants. Cancelled descendants are omitted, because nothing waits for them. */
  failedDescendants(key: string): Promise<readonly string[]>;
  /** Returns the ids of an item's direct parts that are of one kind and open. */
  openParts(nodeRef: NodeRef, of: NodeKind): Promise<readonly string[]>;
  /** Returns the descendants of an item, in the order of their creation. */
  descendants(key: string, page: PageRequest): Promise<ListPage<StoredNode>>;
}

export interface BudgetPorts {
  readonly budgets: BudgetQueries;
}

export type GraphChange = ChangeOf<GraphChanges & BudgetChanges & AuditChanges>;
