/** Queries to the two databases as plain data, so that a test can send each and check its index and rules. */

export type Comparison = '==' | '<' | '<=' | '>' | '>=' | 'in' | 'array-contains';

/** Documents of a collection. The limit is required. */
export interface DocumentsQuery {
  readonly collection: string;
  readonly where: readonly (readonly [field: string, comparison: Comparison, value: unknown])[];
  readonly orderBy: readonly (readonly [field: string, direction: 'asc' | 'desc'])[];
  readonly limit: number;
}

/** One document. */
export interface DocumentQuery {
  readonly document: string;
}

/** Node of the Realtime Database, or its last children. */
export interface NodeQuery {
  readonly node: string;
  /** Order by a child's value, or by the keys. */
  readonly orderBy?: string;
  readonly last?: number;
}
