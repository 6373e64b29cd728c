import type { Store } from '../kernel/commit.ts';
import type { DocumentSource } from '../kernel/firestore/reading.ts';
import type { Log } from '../kernel/ports.ts';
import { BudgetSweep } from './rules/budgetSweep.ts';
import type { GraphPorts } from './rules/linking.ts';
import type { BudgetPorts, GraphChange } from './rules/ports.ts';
import { FirestoreBudgetQueries } from './store/budgets.ts';
import { FirestoreGraphQueries } from './store/nodes.ts';

export interface GraphDependencies extends DocumentSource {
  readonly store: Store<GraphChange>;
  readonly log: Log;
  /** For each kind of item, a function that finds an item's graph node. The item's feature provides it. */
  readonly nodes: GraphPorts['nodes'];
}

/** Creates the services for the graph of items and for budgets. */
export function createGraph({ database, documents, store, log, nodes }: GraphDependencies) {
  const graph = new FirestoreGraphQueries(database, documents);
  const budgets = new FirestoreBudgetQueries(database, documents);
  const ports: GraphPorts & BudgetPorts = { graph, nodes, budgets };
  return { ports, services: { budgetSweep: new BudgetSweep({ budgets, store, log }) } };
}
