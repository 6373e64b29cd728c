/** What a sweep reads of a collection: what is due, longest ago first. */
import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Batch, Position } from '../../domain/readers.ts';
import { timestamp } from './timestamp.ts';

export interface DueQuery {
  readonly query: Query;
  /** The field that says when something is due. */
  readonly time: string;
}

export interface DuePage {
  readonly now: Date;
  readonly limit: number;
  readonly after: Position | undefined;
}

/** @param fromSnapshot gives nothing for one that cannot be read: it must not keep the sweep from the others */
export async function readDue<Item>(
  { query, time }: DueQuery,
  { now, limit, after }: DuePage,
  fromSnapshot: (snapshot: QueryDocumentSnapshot) => readonly Item[],
): Promise<Batch<Item>> {
  const due = query.where(time, '<=', now).orderBy(time).orderBy(FieldPath.documentId()).limit(limit);
  const { docs } = await (after === undefined ? due : due.startAfter(after.at, after.id)).get();
  // What a range of times finds has a time.
  const placeOf = (snapshot: QueryDocumentSnapshot): Position => ({
    at: timestamp.parse(snapshot.get(time)),
    id: snapshot.id,
  });
  const found = docs.flatMap((snapshot) =>
    fromSnapshot(snapshot).map((item) => ({ item, place: placeOf(snapshot) })),
  );
  const last = docs.at(-1);
  return { found, ...(last && docs.length === limit && { next: placeOf(last) }) };
}
