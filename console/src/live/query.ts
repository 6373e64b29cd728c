/** Queries to both databases, as plain data. A test can thus send each query and check its index and the rules. */

export type Comparison = '==' | '<' | '<=' | '>' | '>=' | 'in' | 'array-contains';

/** Query for documents of a collection. It must have a limit. */
export interface DocumentsQuery {
  readonly collection: string;
  readonly where: readonly (readonly [field: string, comparison: Comparison, value: unknown])[];
  readonly orderBy: readonly (readonly [field: string, direction: 'asc' | 'desc'])[];
  readonly limit: number;
}

export interface DocumentQuery {
  readonly document: string;
}

/** Query for a node of the Realtime Database, or for the last children of a node. */
export interface NodeQuery {
  readonly node: string;
  /** Child by whose value the children are ordered; if absent, they are ordered by key. */
  readonly orderBy?: string;
  readonly last?: number;
}
