/** From snapshots to values that rules work with: the one place that meets documents which cannot be read. */

import {
  type DocumentSnapshot,
  FieldPath,
  type Firestore,
  type Query,
  QueryDocumentSnapshot,
} from '@google-cloud/firestore';
import type { Versioned } from '../commit.ts';
import { timestamp } from '../documentCodec.ts';
import { byteLength } from '../json.ts';
import type { Batch, Page, Position, Slice } from '../paging.ts';
import { UnreadableDocumentError, type UnreadableDocuments } from '../ports.ts';
import { MAX_PAGE_BYTES, MAX_READ_AT_ONCE } from './client.ts';
import { LATEST_COMMITS, versioned } from './provenCommit.ts';

/** How many documents are read at least in place of those that were stepped over. */
const READ_INSTEAD = 10;

type FromDocument<Value> = (data: unknown, id: string) => Value;

/** Where documents are, and how they are read: a feature makes its queries of it. */
export interface DocumentSource {
  readonly database: Firestore;
  readonly documents: DocumentReading;
}

export class DocumentReading {
  private readonly unreadable: UnreadableDocuments;

  constructor(unreadable: UnreadableDocuments) {
    this.unreadable = unreadable;
  }

  /** A document that is asked for by itself. @throws UnreadableDocumentError also where it is not there */
  value<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): Value {
    const read = this.attempt(snapshot, fromDocument);
    if (read === undefined) throw new UnreadableDocumentError(snapshot.ref.path, belongingOf(snapshot));
    return read.value;
  }

  /** The same where it may not be there. @throws UnreadableDocumentError */
  find<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): Value | undefined {
    return snapshot.exists ? this.value(snapshot, fromDocument) : undefined;
  }

  /** @throws UnreadableDocumentError */
  findVersioned<Value>(
    snapshot: DocumentSnapshot,
    fromDocument: FromDocument<Value>,
  ): Versioned<Value> | undefined {
    const { updateTime } = snapshot;
    return (
      updateTime && versioned(this.value(snapshot, fromDocument), updateTime, snapshot.get(LATEST_COMMITS))
    );
  }

  /** One of many: none where there is none, or it cannot be read. */
  readable<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): readonly Value[] {
    const read = snapshot.exists ? this.attempt(snapshot, fromDocument) : undefined;
    return read ? [read.value] : [];
  }

  /** The same with its version. */
  readableVersioned<Value>(
    snapshot: DocumentSnapshot,
    fromDocument: FromDocument<Value>,
  ): readonly Versioned<Value>[] {
    const { updateTime } = snapshot;
    if (updateTime === undefined) return [];
    return this.readable(snapshot, fromDocument).map((value) =>
      versioned(value, updateTime, snapshot.get(LATEST_COMMITS)),
    );
  }

  /** The first of a query that can be read, so many that others are read in place of those that cannot. */
  async *first<Value>(
    query: Query,
    most: number,
    fromDocument: FromDocument<Value>,
  ): AsyncGenerator<{ readonly value: Value; readonly snapshot: QueryDocumentSnapshot }, void, undefined> {
    let left = most;
    let looked = 0;
    let asked = Math.min(left, MAX_READ_AT_ONCE);
    let rest = query.limit(asked);
    for (;;) {
      let last: QueryDocumentSnapshot | undefined;
      let seen = 0;
      for await (const snapshot of rest.stream()) {
        if (!(snapshot instanceof QueryDocumentSnapshot)) continue;
        seen += 1;
        last = snapshot;
        for (const value of this.readable(snapshot, fromDocument)) {
          yield { value, snapshot };
          left -= 1;
        }
        if (left === 0) return;
      }
      if (last === undefined || seen < asked) return;
      looked += seen;
      asked = askedNext(left, looked - (most - left));
      rest = query.limit(asked).startAfter(last);
    }
  }

  async firstVersioned<Value>(
    query: Query,
    most: number,
    fromDocument: FromDocument<Value>,
  ): Promise<Versioned<Value>[]> {
    const found: Versioned<Value>[] = [];
    for await (const { value, snapshot } of this.first(query, most, fromDocument))
      found.push(versioned(value, snapshot.updateTime, snapshot.get(LATEST_COMMITS)));
    return found;
  }

  /** One page of a query in the order of a time, then of ids. */
  slice<Item>(
    query: Query,
    [time, direction]: readonly [time: string, direction: 'asc' | 'desc'],
    { limit, after }: Page,
    fromDocument: FromDocument<Item>,
  ): Promise<Slice<Item>> {
    const ordered = query.orderBy(time, direction).orderBy(FieldPath.documentId(), direction);
    const rest = after === undefined ? ordered : ordered.startAfter(after.at, after.id);
    return this.page(rest, limit, fromDocument);
  }

  /** The first documents that fit a page, and whether there are more; reading stops once the page is full. */
  async page<Item>(
    query: Query,
    limit: number,
    fromDocument: FromDocument<Item>,
    mostBytes = MAX_PAGE_BYTES,
  ): Promise<Slice<Item>> {
    const items: Item[] = [];
    let bytes = 0;
    for await (const { value } of this.first(query, limit + 1, fromDocument)) {
      // Not of the document itself, in which there may be anything.
      bytes += byteLength(value);
      const full = items.length === limit || (items.length > 0 && bytes > mostBytes);
      if (full) return { items, more: true };
      items.push(value);
    }
    return { items, more: false };
  }

  private attempt<Value>(
    snapshot: DocumentSnapshot,
    fromDocument: FromDocument<Value>,
  ): { readonly value: Value } | undefined {
    try {
      const value = fromDocument(snapshot.data(), snapshot.id);
      // What is read goes by this id from here on, into cursors and back to the document.
      const own: unknown = snapshot.get('id');
      if (typeof own === 'string' && own !== snapshot.id) throw new OtherIdError();
      return { value };
    } catch (error) {
      this.unreadable.note(snapshot.ref.path, error);
      return undefined;
    }
  }
}

/** A document that says that it is another one. */
class OtherIdError extends Error {
  override readonly name = 'OtherIdError';
}

function belongingOf(snapshot: DocumentSnapshot) {
  const [owner_uid, workspace] = ['owner_uid', 'workspace'].map((field) => {
    const value: unknown = snapshot.get(field);
    return typeof value === 'string' ? value : undefined;
  });
  return { owner_uid, workspace };
}

/** The base of classes that query Firestore. */
export abstract class FirestoreReader {
  protected readonly database: Firestore;
  protected readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }
}

export interface DuePage {
  readonly now: Date;
  readonly limit: number;
  readonly after: Position | undefined;
}

/** Reads what is due by the field `time`. `fromSnapshot` gives nothing for what is unreadable, and stops no sweep. */
export async function readDue<Item>(
  query: Query,
  time: string,
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
  return { found, next: last && docs.length === limit ? placeOf(last) : undefined };
}

/** How many more are asked for. Where some were stepped over, more may be. */
function askedNext(left: number, steppedOver: number): number {
  return Math.min(steppedOver > 0 ? Math.max(left, READ_INSTEAD) : left, MAX_READ_AT_ONCE);
}
