/** What is asked of the two databases, as plain data: a test sends each of them, and holds indexes and rules to them. */

export type Comparison = '==' | '<' | '<=' | '>' | '>=' | 'in' | 'array-contains';

/** Documents of a collection; none is without a limit. */
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

/** A node of the Realtime Database, or the last of its children. */
export interface NodeQuery {
  readonly node: string;
  /** By a child's value, or by the keys. */
  readonly orderBy?: string;
  readonly last?: number;
}
