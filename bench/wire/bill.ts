/** Firestore operations that are billed for a message. Source: https://firebase.google.com/docs/firestore/pricing */
import protos from '@google-cloud/firestore-api/protos';

const { google } = protos;
const v1 = google.firestore.v1;

export interface Bill {
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
}

export const NOTHING: Bill = { reads: 0, writes: 0, deletes: 0 };

export function plus(one: Bill, other: Bill): Bill {
  return { reads: one.reads + other.reads, writes: one.writes + other.writes, deletes: one.deletes + other.deletes };
}

/** Number of index entries of an aggregation that are billed as one read. */
const ENTRIES_PER_READ = 1000;

/** Returns the cost of one response message. A call can have several; `minimumBill` returns a call's minimum. */
export function billAnswer(method: string, message: Uint8Array): Bill {
  switch (method) {
    case 'BatchGetDocuments': {
      const { found, missing } = v1.BatchGetDocumentsResponse.decode(message);
      return { ...NOTHING, reads: found || missing ? 1 : 0 }; // a missing document is billed too
    }
    case 'RunQuery':
      return { ...NOTHING, reads: v1.RunQueryResponse.decode(message).document ? 1 : 0 };
    case 'Listen': // Costs as much as the query, and then one read per changed document.
      return { ...NOTHING, reads: v1.ListenResponse.decode(message).documentChange ? 1 : 0 };
    case 'RunAggregationQuery': {
      const counts = Object.values(v1.RunAggregationQueryResponse.decode(message).result?.aggregateFields ?? {});
      const entries = Math.max(0, ...counts.map((count) => Number(count.integerValue ?? 0)));
      return { ...NOTHING, reads: Math.ceil(entries / ENTRIES_PER_READ) };
    }
    default:
      return NOTHING;
  }
}

/** Returns the cost of a request message if the request succeeds. A refused commit costs no writes. */
export function billRequest(method: string, message: Uint8Array): Bill {
  if (method !== 'Commit') return NOTHING;
  const { writes } = v1.CommitRequest.decode(message);
  const deletes = writes.filter((write) => write.delete).length;
  return { reads: 0, writes: writes.length - deletes, deletes };
}

const QUERIES: readonly string[] = ['RunQuery', 'RunAggregationQuery', 'Listen'];

/** Returns the minimum cost: a query without results and a list of collections cost one read. */
export function minimumBill(method: string): Bill {
  return { ...NOTHING, reads: [...QUERIES, 'ListCollectionIds'].includes(method) ? 1 : 0 };
}

/** Methods whose cost is known. A call of any other method makes the measurement fail. */
export const KNOWN_METHODS: readonly string[] = [
  'BatchGetDocuments',
  'RunQuery',
  'RunAggregationQuery',
  'Listen',
  'ListCollectionIds',
  'Commit',
];

/** Returns the names of the documents that a message reads or writes, or of the collections that it queries. */
export function documentsAskedFor(method: string, message: Uint8Array): readonly string[] {
  if (method === 'Commit')
    return v1.CommitRequest.decode(message).writes.flatMap(
      ({ update, delete: deleted }) => update?.name ?? deleted ?? [],
    );
  if (method === 'BatchGetDocuments') return v1.BatchGetDocumentsRequest.decode(message).documents;
  if (method !== 'RunQuery') return [];
  const { parent, structuredQuery } = v1.RunQueryRequest.decode(message);
  return (structuredQuery?.from ?? []).map(({ collectionId }) => `${parent}/${collectionId}`);
}
