/** Counts the documents that the server's Firestore client reads, as Firestore bills them. */
import { type AggregateQuery, type AggregateSpec, Query } from '@google-cloud/firestore';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../functions/src/kernel/json.ts';

export interface Reads {
  /** Returns the number of documents that were read while `act` ran. */
  during(act: () => Promise<unknown>): Promise<number>;
  stop(): void;
}

/** Starts the count. All reads of the client use one of the four methods that this function replaces. */
export function countReads(): Reads {
  let read = 0;
  const client = firestore();
  const { getAll } = client;
  const { get, stream } = Query.prototype;
  const aggregations: AggregateQuery<AggregateSpec> = Object.getPrototypeOf(client.collection('any').count());
  const aggregate = aggregations.get;
  client.getAll = async (...documents) => {
    const snapshots = await getAll.apply(client, documents);
    read += snapshots.length;
    return snapshots;
  };
  Query.prototype.get = async function () {
    const snapshot = await get.call(this);
    read += Math.max(snapshot.size, 1); // A query without results costs one read.
    return snapshot;
  };
  Query.prototype.stream = function () {
    const documents = stream.call(this);
    return documents.on('data', () => {
      read += 1;
    });
  };
  aggregations.get = function () {
    read += 1;
    return aggregate.call(this);
  };
  return {
    during: async (act) => {
      const before = read;
      await act();
      return read - before;
    },
    stop() {
      client.getAll = getAll;
      Object.assign(Query.prototype, { get, stream });
      aggregations.get = aggregate;
    },
  };
}

/** Returns the length of the longest list in a response. */
export function longestList(answered: JsonObject): number {
  return Math.max(0, ...Object.values(answered).map((value) => (Array.isArray(value) ? value.length : 0)));
}
