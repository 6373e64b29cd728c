/** Reads a document or one page of a collection from Firestore. */
import {
  type CollectionReference,
  FieldPath,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
} from '@google-cloud/firestore';
import { z } from 'zod';
import { versionOf } from '../../../kernel/firestore/verifiedCommit.ts';
import { byteLength, type JsonValue, jsonValue, MAX_LISTED_BYTES, parsedJson } from '../../../kernel/json.ts';
import type { Hashing } from '../../../kernel/ports.ts';
import { type DataPath, elementOf, type ReadOutcome, type ReadQuery } from '../rules/databaseAccess.ts';
import { invalidRequest, pathNotFound } from '../rules/dataErrors.ts';
import { Encoder } from './fromJson.ts';
import { fieldsToJson, nameProblem, pathProblem, splitFieldPath, toJson } from './values.ts';

const DEFAULT_LIMIT = 100;

/** Maximum number of documents per query. A running query cannot be stopped, and each document may have 1 MiB. */
const MAX_BATCH = 50;

/** Stands for the document name in `orderBy`, as in Firestore. */
const BY_NAME = '__name__';

export async function readDocument(client: Firestore, path: DataPath): Promise<ReadOutcome> {
  const snapshot = await client.doc(path.text).get();
  const fields = snapshot.data();
  if (fields === undefined || snapshot.updateTime === undefined) throw pathNotFound(path.text);
  return {
    data: fieldsToJson(fields),
    count: 1,
    timestamp: snapshot.readTime.toDate(),
    version: versionOf(snapshot.updateTime),
  };
}

/** Reads one page. To find out whether more documents follow, reads at most one batch beyond the page. */
export async function readCollection(
  hashing: Hashing,
  client: Firestore,
  path: DataPath,
  request: ReadQuery,
): Promise<ReadOutcome> {
  const { limit = DEFAULT_LIMIT, startAt, endAt } = request;
  const order = orderOf(request);
  const digest = hashing.sha256(JSON.stringify([path.text, order, startAt, endAt])).slice(0, 20);
  let query = await withBounds(client.collection(path.text), order, request, digest);
  const data: JsonValue[] = [];
  let bytes = 0;
  let last: QueryDocumentSnapshot | undefined;
  for (;;) {
    const wanted = Math.min(limit + 1 - data.length, MAX_BATCH);
    const { docs, readTime } = await query.limit(wanted).get();
    const timestamp = readTime.toDate();
    for (const document of docs) {
      const element = elementOf(document.id, fieldsToJson(document.data()));
      bytes += byteLength(element) + 1;
      if (last !== undefined && (data.length === limit || bytes > MAX_LISTED_BYTES)) {
        const value = order && toJson(last.get(new FieldPath(...order)));
        const nextCursor = cursorText({ query: digest, name: last.id, value });
        return { data, count: data.length, timestamp, nextCursor };
      }
      data.push(element);
      last = document;
    }
    if (docs.length < wanted || last === undefined) return { data, count: data.length, timestamp };
    query = query.startAfter(last);
  }
}

/** Returns the path of the field to order by, as a list of names; undefined for the order by document name. */
function orderOf({ orderBy = BY_NAME }: ReadQuery): readonly string[] | undefined {
  if (orderBy === BY_NAME) return undefined;
  const problem = pathProblem(orderBy);
  if (problem === undefined) return splitFieldPath(orderBy);
  throw invalidRequest(
    'query.orderBy',
    `The field path ${problem}.`,
    'Use a field name, a path such as "a.b" for a field in a map, or "__name__".',
  );
}

async function withBounds(
  collection: CollectionReference,
  order: readonly string[] | undefined,
  { startAt, endAt, cursor }: ReadQuery,
  digest: string,
): Promise<Query> {
  const position = cursor === undefined ? undefined : parseCursor(cursor, digest);
  if (order !== undefined && startAt !== undefined && startAt === endAt) {
    // If both bounds are equal, uses an equality filter, because security rules accept it, but not two bounds.
    const equal = collection.where(new FieldPath(...order), '==', startAt).orderBy(FieldPath.documentId());
    return position === undefined ? equal : equal.startAfter(...(await after(collection, undefined, position)));
  }
  const byValue = order === undefined ? collection : collection.orderBy(new FieldPath(...order));
  const ordered = byValue.orderBy(FieldPath.documentId());
  const ended =
    endAt === undefined ? ordered : ordered.endAt(order === undefined ? documentName('endAt', endAt) : endAt);
  if (position !== undefined) return ended.startAfter(...(await after(collection, order, position)));
  if (startAt === undefined) return ended;
  return ended.startAt(order === undefined ? documentName('startAt', startAt) : startAt);
}

/** Returns the values after which the query continues. */
async function after(
  collection: CollectionReference,
  order: readonly string[] | undefined,
  { name, value }: Cursor,
): Promise<unknown[]> {
  if (fieldNameProblem(name)) throw invalidCursor('Invalid cursor.');
  if (order === undefined) return [name];
  if (value === undefined) {
    const snapshot = await collection.doc(name).get();
    const found: unknown = snapshot.get(new FieldPath(...order));
    if (found === undefined) throw invalidCursor('The document at this cursor was deleted.');
    return [found, name];
  }
  const encoder = new Encoder({ client: collection.firestore, deletes: 'nowhere', transforms: false });
  try {
    return [encoder.value(value, 'query.cursor', order.length), name];
  } catch {
    throw invalidCursor('Invalid cursor.');
  }
}

function documentName(field: 'startAt' | 'endAt', bound: unknown): string {
  if (typeof bound === 'string' && !fieldNameProblem(bound)) return bound;
  throw invalidRequest(`query.${field}`, `When ordering by name, ${field} must be a document name.`);
}

function fieldNameProblem(name: string): boolean {
  return name.includes('/') || name === '.' || name === '..' || nameProblem(name) !== undefined;
}

/** Maximum size in bytes of a field value in a cursor, so that the cursor fits in the tool's argument. */
const MAX_VALUE_BYTES = 1000;

/** A cursor: the last document of a page. It is unambiguous even if several documents have the same value. */
const writtenCursor = z.strictObject({
  /** Hash of the query, because a cursor is valid only for the query that returned it. */
  query: z.string(),
  name: z.string().min(1).max(1500),
  /** The document's value in the order field, as JSON. Absent for the order by name, or if the value is too long. */
  value: jsonValue.optional(),
});
type Cursor = Readonly<z.output<typeof writtenCursor>>;

export function cursorText({ query, name, value }: Cursor): string {
  const isLong = Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_VALUE_BYTES;
  const cursor = { query, name, value: isLong ? undefined : value };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** @throws MusterError VALIDATION_ERROR if the text is not a cursor, or if the cursor belongs to another query */
export function parseCursor(text: string, query: string): Cursor {
  const parsed = writtenCursor.safeParse(parsedJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) throw invalidCursor('Invalid cursor.');
  if (parsed.data.query !== query) throw invalidCursor('This cursor belongs to another query.');
  return parsed.data;
}

function invalidCursor(what: string) {
  return invalidRequest(
    'query.cursor',
    what,
    'Send nextCursor with the same path, orderBy, startAt and endAt, or omit cursor to start over.',
  );
}
