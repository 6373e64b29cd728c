/** Reads a document, or a page of a collection. */

import {
  type DocumentData,
  FieldPath,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
} from '@google-cloud/firestore';
import { versionOf } from '../../../kernel/firestore/provenCommit.ts';
import { type JsonObject, type JsonValue, MAX_LISTED_BYTES, sentBytes } from '../../../kernel/json.ts';
import type { Hashing } from '../../../kernel/ports.ts';
import type { DataPath, ReadOutcome, ReadQuery } from '../rules/access.ts';
import { invalidRequest, pathNotFound } from '../rules/errors.ts';
import { type Cursor, cursorText, invalidCursor, parseCursor } from './errors.ts';
import { Encoder } from './fromJson.ts';
import { fieldsToJson, nameProblem, pathProblem, splitFieldPath, toJson } from './values.ts';

const DEFAULT_LIMIT = 100;

/** A query cannot be broken off, and each document may have 1 MiB: so many are in memory at once. */
const MAX_BATCH = 50;

/** The name by which `orderBy` and Firestore know a document's name. */
const BY_NAME = '__name__';

interface ReadPorts {
  readonly hashing: Hashing;
}

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

/** Reads no more than one document beyond what it gives, and one for a cursor at a long value. */
export async function readCollection(
  ports: ReadPorts,
  client: Firestore,
  path: DataPath,
  request: ReadQuery,
): Promise<ReadOutcome> {
  const { limit = DEFAULT_LIMIT } = request;
  const order = orderOf(request);
  const digest = digestOf(ports.hashing, path, order, request);
  const page = new Page(limit);
  let query = await placed(client, path, order, request, digest);
  for (;;) {
    const wanted = Math.min(limit + 1 - page.data.length, MAX_BATCH);
    const batch = await query.limit(wanted).get();
    const complete = page.add(batch.docs);
    const { data, last } = page;
    const outcome = { data, count: data.length, timestamp: batch.readTime.toDate() };
    if (!complete && last) return { ...outcome, nextCursor: cursorAt(last, order, digest) };
    if (batch.size < wanted || last === undefined) return outcome;
    query = query.startAfter(last);
  }
}

/** What an answer holds, as far as there is room. */
class Page {
  readonly data: JsonValue[] = [];
  last: QueryDocumentSnapshot | undefined;
  private bytes = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Tells whether there was room for all of them. */
  add(documents: readonly QueryDocumentSnapshot[]): boolean {
    return documents.every((document) => {
      const element = elementOf(document);
      this.bytes += sentBytes(JSON.stringify(element)) + 2;
      const full = this.data.length === this.limit || this.bytes > MAX_LISTED_BYTES;
      if (full && this.data.length > 0) return false;
      this.data.push(element);
      this.last = document;
      return true;
    });
  }
}

/** A document within a list: its fields, and its name unless they tell it. */
export function elementOf(snapshot: QueryDocumentSnapshot<DocumentData>): JsonObject {
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

/** The same for every page of a query. */
function digestOf(
  hashing: Hashing,
  { text }: DataPath,
  order: readonly string[] | undefined,
  { startAt, endAt }: ReadQuery,
): string {
  return hashing.sha256(JSON.stringify([text, order, startAt, endAt])).slice(0, 20);
}

/** The query from its beginning, or from the cursor, to its end. */
async function placed(
  client: Firestore,
  path: DataPath,
  order: readonly string[] | undefined,
  { startAt, endAt, cursor }: ReadQuery,
  digest: string,
): Promise<Query> {
  const collection = client.collection(path.text);
  const byValue = order === undefined ? collection : collection.orderBy(new FieldPath(...order));
  const ordered = byValue.orderBy(FieldPath.documentId());
  const position = cursor === undefined ? undefined : parseCursor(cursor, digest);
  const ended =
    endAt === undefined ? ordered : ordered.endAt(order === undefined ? documentName('endAt', endAt) : endAt);
  if (position !== undefined) return ended.startAfter(...(await after(client, path, order, position)));
  if (startAt === undefined) return ended;
  return ended.startAt(order === undefined ? documentName('startAt', startAt) : startAt);
}

/** What a query starts after that goes on at a cursor. */
async function after(
  client: Firestore,
  path: DataPath,
  order: readonly string[] | undefined,
  { name, value }: Cursor,
): Promise<unknown[]> {
  if (nameTrouble(name)) throw invalidCursor('This is no cursor.');
  if (order === undefined) return [name];
  if (value === undefined) {
    const snapshot = await client.doc(`${path.text}/${name}`).get();
    const found: unknown = snapshot.get(new FieldPath(...order));
    if (found === undefined) throw invalidCursor('The document at which this cursor stands is gone.');
    return [found, name];
  }
  const encoder = new Encoder({
    reference: (reference) => client.doc(reference),
    deletes: 'nowhere',
    transforms: false,
  });
  try {
    return [encoder.value(value, 'query.cursor', order.length), name];
  } catch {
    throw invalidCursor('This is no cursor.');
  }
}

function cursorAt(last: QueryDocumentSnapshot, order: readonly string[] | undefined, query: string): string {
  const name = last.id;
  return cursorText(
    order === undefined ? { query, name } : { query, name, value: toJson(last.get(new FieldPath(...order))) },
  );
}

function documentName(field: 'startAt' | 'endAt', bound: unknown): string {
  if (typeof bound === 'string' && !nameTrouble(bound)) return bound;
  throw invalidRequest(`query.${field}`, `Where names order, ${field} is a document's name.`);
}

function nameTrouble(name: string): boolean {
  return name.includes('/') || name === '.' || name === '..' || nameProblem(name) !== undefined;
}
