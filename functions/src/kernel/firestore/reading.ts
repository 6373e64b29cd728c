/** Converts snapshots of documents to values. Unreadable documents are detected only here. */
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
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../paging.ts';
import { UnreadableDocumentError, type UnreadableDocuments } from '../ports.ts';
import { MAX_PAGE_BYTES, MAX_READ_AT_ONCE } from './client.ts';
import { LATEST_COMMITS, versioned } from './verifiedCommit.ts';

/** Minimum number of documents in a read that replaces skipped documents. */
const SUBSTITUTE_LIMIT = 10;

type FromDocument<Value> = (data: unknown, id: string) => Value;

export interface DocumentSource {
  readonly database: Firestore;
  readonly documents: DocumentReading;
}

export class DocumentReading {
  private readonly unreadable: UnreadableDocuments;

  constructor(unreadable: UnreadableDocuments) {
    this.unreadable = unreadable;
  }

  /** Returns the value of a document. @throws UnreadableDocumentError if the document is unreadable or missing */
  value<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): Value {
    const read = this.attempt(snapshot, fromDocument);
    if (read === undefined) throw new UnreadableDocumentError(snapshot.ref.path, ownershipOf(snapshot));
    return read.value;
  }

  /** Like `value`, but returns undefined if the document does not exist. @throws UnreadableDocumentError */
  find<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): Value | undefined {
    return snapshot.exists ? this.value(snapshot, fromDocument) : undefined;
  }

  /** @throws UnreadableDocumentError */
  findVersioned<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): Versioned<Value> | undefined {
    const { updateTime } = snapshot;
    return updateTime && versioned(this.value(snapshot, fromDocument), updateTime, snapshot.get(LATEST_COMMITS));
  }

  /** Returns a list with the document's value, or an empty list if the document is missing or unreadable. */
  readable<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): readonly Value[] {
    const read = snapshot.exists ? this.attempt(snapshot, fromDocument) : undefined;
    return read ? [read.value] : [];
  }

  /** Like `readable`, but each value comes with the document's version. */
  readableVersioned<Value>(snapshot: DocumentSnapshot, fromDocument: FromDocument<Value>): readonly Versioned<Value>[] {
    const { updateTime } = snapshot;
    if (updateTime === undefined) return [];
    return this.readable(snapshot, fromDocument).map((value) =>
      versioned(value, updateTime, snapshot.get(LATEST_COMMITS)),
    );
  }

  async all<Value>(query: Query, fromDocument: FromDocument<Value>): Promise<readonly Value[]> {
    const { docs } = await query.get();
    return docs.flatMap((snapshot) => this.readable(snapshot, fromDocument));
  }

  /** Yields the values of a query's first readable documents. Reads further documents to replace unreadable ones. */
  async *first<Value>(
    query: Query,
    max: number,
    fromDocument: FromDocument<Value>,
  ): AsyncGenerator<{ readonly value: Value; readonly snapshot: QueryDocumentSnapshot }, void, undefined> {
    let left = max;
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
      asked = nextLimit(left, looked - (max - left));
      rest = query.limit(asked).startAfter(last);
    }
  }

  async firstVersioned<Value>(
    query: Query,
    max: number,
    fromDocument: FromDocument<Value>,
  ): Promise<Versioned<Value>[]> {
    const found: Versioned<Value>[] = [];
    for await (const { value, snapshot } of this.first(query, max, fromDocument))
      found.push(versioned(value, snapshot.updateTime, snapshot.get(LATEST_COMMITS)));
    return found;
  }

  /** Returns one page of a query, ordered by a time field and then by document id. */
  slice<Item>(
    query: Query,
    [time, direction]: readonly [time: string, direction: 'asc' | 'desc'],
    { limit, after }: PageRequest,
    fromDocument: FromDocument<Item>,
  ): Promise<ListPage<Item>> {
    const ordered = query.orderBy(time, direction).orderBy(FieldPath.documentId(), direction);
    const rest = after === undefined ? ordered : ordered.startAfter(after.at, after.id);
    return this.page(rest, limit, fromDocument);
  }

  /** Returns the first documents that fit in a page, and whether more follow. Reading stops once the page is full. */
  async page<Item>(
    query: Query,
    limit: number,
    fromDocument: FromDocument<Item>,
    maxBytes = MAX_PAGE_BYTES,
  ): Promise<ListPage<Item>> {
    const items: Item[] = [];
    let bytes = 0;
    for await (const { value } of this.first(query, limit + 1, fromDocument)) {
      // The size of the value counts, because the document may have other fields of any size.
      bytes += byteLength(value);
      const full = items.length === limit || (items.length > 0 && bytes > maxBytes);
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
      // Cursors and later writes use the id in the value, so it must be the document's id.
      const own: unknown = snapshot.get('id');
      if (typeof own === 'string' && own !== snapshot.id) throw new OtherIdError();
      return { value };
    } catch (error) {
      this.unreadable.note(snapshot.ref.path, error);
      return undefined;
    }
  }
}

/** The field `id` of a document differs from the document's id. */
class OtherIdError extends Error {
  override readonly name = 'OtherIdError';
}

function ownershipOf(snapshot: DocumentSnapshot) {
  const [owner_uid, workspace] = ['owner_uid', 'workspace'].map((field) => {
    const value: unknown = snapshot.get(field);
    return typeof value === 'string' ? value : undefined;
  });
  return { owner_uid, workspace };
}

export abstract class FirestoreReader {
  protected readonly database: Firestore;
  protected readonly documents: DocumentReading;

  constructor(database: Firestore, documents: DocumentReading) {
    this.database = database;
    this.documents = documents;
  }

  /** Reads the documents at these paths, in the order of the paths. */
  protected async documentsAt(paths: readonly string[]): Promise<readonly DocumentSnapshot[]> {
    return paths.length === 0 ? [] : this.database.getAll(...paths.map((path) => this.database.doc(path)));
  }
}

export interface DuePage extends PageRequest {
  readonly now: Date;
}

/** Reads due documents by the field `time`. `fromSnapshot` returns [] for unreadable ones, which are skipped. */
export async function readDue<Item>(
  query: Query,
  time: string,
  { now, limit, after }: DuePage,
  fromSnapshot: (snapshot: QueryDocumentSnapshot) => readonly Item[],
): Promise<SweepBatch<Item>> {
  const due = query.where(time, '<=', now).orderBy(time).orderBy(FieldPath.documentId()).limit(limit);
  const { docs } = await (after === undefined ? due : due.startAfter(after.at, after.id)).get();
  // Every document that a query for a range of times finds has a time.
  const placeOf = (snapshot: QueryDocumentSnapshot): TimeCursor => ({
    at: timestamp.parse(snapshot.get(time)),
    id: snapshot.id,
  });
  const found = docs.flatMap((snapshot) => fromSnapshot(snapshot).map((item) => ({ item, place: placeOf(snapshot) })));
  const last = docs.at(-1);
  return { found, next: last && docs.length === limit ? placeOf(last) : undefined };
}

/** Returns how many more documents to read. If many documents were skipped, the number is higher. */
function nextLimit(left: number, steppedOver: number): number {
  return Math.min(steppedOver > 0 ? Math.max(left, SUBSTITUTE_LIMIT) : left, MAX_READ_AT_ONCE);
}
