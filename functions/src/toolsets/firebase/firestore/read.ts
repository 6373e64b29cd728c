/** Reads a document, or a page of a collection. */

import {
  type CollectionReference,
  FieldPath,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
} from '@google-cloud/firestore';
import { z } from 'zod';
import { versionOf } from '../../../kernel/firestore/provenCommit.ts';
import {
  byteLength,
  type JsonObject,
  type JsonValue,
  jsonValue,
  MAX_LISTED_BYTES,
  parsedJson,
} from '../../../kernel/json.ts';
import type { Hashing } from '../../../kernel/ports.ts';
import type { DataPath, ReadOutcome, ReadQuery } from '../rules/databaseAccess.ts';
import { invalidRequest, pathNotFound } from '../rules/dataErrors.ts';
import { Encoder } from './fromJson.ts';
import { fieldsToJson, nameProblem, pathProblem, splitFieldPath, toJson } from './values.ts';

const DEFAULT_LIMIT = 100;

/** A query cannot be broken off, and each document may have 1 MiB: so many are in memory at once. */
const MAX_BATCH = 50;

/** The name by which `orderBy` and Firestore know a document's name. */
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

/** Reads one document more than it returns, or up to a batch more if documents are large, and one for a long cursor. */
export async function readCollection(
  hashing: Hashing,
  client: Firestore,
  path: DataPath,
  request: ReadQuery,
): Promise<ReadOutcome> {
  const { limit = DEFAULT_LIMIT, startAt, endAt } = request;
  const order = orderOf(request);
  const digest = hashing.sha256(JSON.stringify([path.text, order, startAt, endAt])).slice(0, 20);
  let query = await placed(client.collection(path.text), order, request, digest);
  const data: JsonValue[] = [];
  let bytes = 0;
  let last: QueryDocumentSnapshot | undefined;
  for (;;) {
    const wanted = Math.min(limit + 1 - data.length, MAX_BATCH);
    const { docs, readTime } = await query.limit(wanted).get();
    const timestamp = readTime.toDate();
    for (const document of docs) {
      const element = elementOf(document);
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

/** A document within a list: its fields, and its name unless they tell it. */
export function elementOf(snapshot: QueryDocumentSnapshot): JsonObject {
  const fields = fieldsToJson(snapshot.data());
  const { id = snapshot.id } = fields;
  return { id, ...(id !== snapshot.id && { [BY_NAME]: snapshot.id }), ...fields };
}

/** The field that orders, as its path; undefined where names do. */
function orderOf({ orderBy = BY_NAME }: ReadQuery): readonly string[] | undefined {
  if (orderBy === BY_NAME) return undefined;
  const problem = pathProblem(orderBy);
  if (problem === undefined) return splitFieldPath(orderBy);
  throw invalidRequest(
    'query.orderBy',
    `The path of a field ${problem}.`,
    'Name a field, "a.b" for one within a map, or "__name__".',
  );
}

/** The query from its beginning, or from the cursor, to its end. */
async function placed(
  collection: CollectionReference,
  order: readonly string[] | undefined,
  { startAt, endAt, cursor }: ReadQuery,
  digest: string,
): Promise<Query> {
  const position = cursor === undefined ? undefined : parseCursor(cursor, digest);
  if (order !== undefined && startAt !== undefined && startAt === endAt) {
    // Rules let a list through that asks for one value, as of `workspace`, and not one that is bounded to it.
    const equal = collection.where(new FieldPath(...order), '==', startAt).orderBy(FieldPath.documentId());
    return position === undefined
      ? equal
      : equal.startAfter(...(await after(collection, undefined, position)));
  }
  const byValue = order === undefined ? collection : collection.orderBy(new FieldPath(...order));
  const ordered = byValue.orderBy(FieldPath.documentId());
  const ended =
    endAt === undefined ? ordered : ordered.endAt(order === undefined ? documentName('endAt', endAt) : endAt);
  if (position !== undefined) return ended.startAfter(...(await after(collection, order, position)));
  if (startAt === undefined) return ended;
  return ended.startAt(order === undefined ? documentName('startAt', startAt) : startAt);
}

/** The values at which a cursor stands, after which a query goes on. */
async function after(
  collection: CollectionReference,
  order: readonly string[] | undefined,
  { name, value }: Cursor,
): Promise<unknown[]> {
  if (nameTrouble(name)) throw invalidCursor('This is no cursor.');
  if (order === undefined) return [name];
  if (value === undefined) {
    const snapshot = await collection.doc(name).get();
    const found: unknown = snapshot.get(new FieldPath(...order));
    if (found === undefined) throw invalidCursor('The document at which this cursor stands is gone.');
    return [found, name];
  }
  const encoder = new Encoder({ client: collection.firestore, deletes: 'nowhere', transforms: false });
  try {
    return [encoder.value(value, 'query.cursor', order.length), name];
  } catch {
    throw invalidCursor('This is no cursor.');
  }
}

function documentName(field: 'startAt' | 'endAt', bound: unknown): string {
  if (typeof bound === 'string' && !nameTrouble(bound)) return bound;
  throw invalidRequest(`query.${field}`, `Where names order, ${field} is a document's name.`);
}

function nameTrouble(name: string): boolean {
  return name.includes('/') || name === '.' || name === '..' || nameProblem(name) !== undefined;
}

/** A cursor stays short enough for the tool's own limit, whatever the name. */
const MAX_VALUE_BYTES = 1000;

/** Where a page ended, so that the next one goes on exactly there, also among equal values. */
const writtenCursor = z.strictObject({
  /** A digest of the query, which is the only one that the cursor goes with. */
  query: z.string(),
  /** The last document's name. */
  name: z.string().min(1).max(1500),
  /** What it was ordered by, in the JSON form; absent where names alone order, and where it is long. */
  value: jsonValue.optional(),
});

type Cursor = Readonly<z.output<typeof writtenCursor>>;

export function cursorText({ query, name, value }: Cursor): string {
  const isLong = Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_VALUE_BYTES;
  const cursor = { query, name, value: isLong ? undefined : value };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** @throws MusterError VALIDATION_ERROR where it is no cursor, or another query's */
export function parseCursor(text: string, query: string): Cursor {
  const parsed = writtenCursor.safeParse(parsedJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) throw invalidCursor('This is no cursor.');
  if (parsed.data.query !== query) throw invalidCursor('This cursor belongs to another query.');
  return parsed.data;
}

function invalidCursor(what: string) {
  return invalidRequest(
    'query.cursor',
    what,
    'Give nextCursor back with the path, orderBy, startAt and endAt that it came from, or begin again without one.',
  );
}
