/** Recorder for the queries that a Firestore client sends. */
import type { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';

const field = z.object({ fieldPath: z.string() });
const fieldFilter = z.object({ fieldFilter: z.object({ field, op: z.string() }) });
const unaryFilter = z.object({ unaryFilter: z.object({ field, op: z.string() }) });
const simple = z.union([fieldFilter, unaryFilter]);

/** `OR` is omitted on purpose. No query uses it, and indexes/need.ts does not handle it. */
const conjunction = z.object({ compositeFilter: z.object({ op: z.literal('AND'), filters: z.array(simple) }) });

const structuredQuery = z.object({
  from: z.tuple([z.object({ collectionId: z.string(), allDescendants: z.boolean().optional() })]),
  where: z.union([simple, conjunction]).nullish(),
  orderBy: z.array(z.object({ field, direction: z.enum(['ASCENDING', 'DESCENDING']) })).nullish(),
});

const request = z.union([
  z.object({ structuredQuery }).transform((sent) => sent.structuredQuery),
  // A count uses the index of the query that it counts.
  z
    .object({ structuredAggregationQuery: z.object({ structuredQuery }) })
    .transform((sent) => sent.structuredAggregationQuery.structuredQuery),
]);

export interface Filter {
  readonly field: string;
  readonly op: string;
}

export interface Order {
  readonly field: string;
  readonly direction: 'ASCENDING' | 'DESCENDING';
}

export interface RecordedQuery {
  readonly collection: string;
  readonly scope: 'COLLECTION' | 'COLLECTION_GROUP';
  readonly filters: readonly Filter[];
  readonly orders: readonly Order[];
}

const QUERIES = ['runQuery', 'runAggregationQuery'];

/** Requests that read documents by id, which need no index. */
const OTHERS = ['batchGetDocuments'];

/**
 * Records the queries that `database` sends from now on. The method that is replaced for this purpose is internal to
 * the client and can change, so callers must treat an empty recording as a failure.
 */
export function recordQueries(database: Firestore): readonly RecordedQuery[] {
  const recorded: RecordedQuery[] = [];
  const send: unknown = Reflect.get(database, 'requestStream');
  if (typeof send !== 'function') throw new Error('the Firestore client has no method requestStream');
  const record = (...args: unknown[]): unknown => {
    const [method, , message] = args;
    if (QUERIES.includes(String(method))) recorded.push(read(message));
    else if (!OTHERS.includes(String(method)))
      throw new Error(`unknown method ${String(method)}: which indexes does it need?`);
    return Reflect.apply(send, database, args);
  };
  Reflect.set(database, 'requestStream', record);
  return recorded;
}

function read(message: unknown): RecordedQuery {
  const { from, where, orderBy } = request.parse(message);
  const filters =
    where === undefined || where === null ? [] : 'compositeFilter' in where ? where.compositeFilter.filters : [where];
  return {
    collection: from[0].collectionId,
    scope: from[0].allDescendants ? 'COLLECTION_GROUP' : 'COLLECTION',
    filters: filters.map((filter) => {
      const { field, op } = 'fieldFilter' in filter ? filter.fieldFilter : filter.unaryFilter;
      return { field: field.fieldPath, op };
    }),
    orders: (orderBy ?? []).map(({ field, direction }) => ({ field: field.fieldPath, direction })),
  };
}
