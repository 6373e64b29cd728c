/** Writes a document, in one commit. */
import {
  type DocumentReference,
  type DocumentSnapshot,
  FieldPath,
  FieldValue,
  type Firestore,
  type Precondition,
  type Timestamp,
  type WriteResult,
} from '@google-cloud/firestore';
import type { WriteOutcome, WriteRequest } from '../../../domain/data/access.ts';
import { invalidDataType, invalidRequest, pathNotFound, writeConflict } from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import type { JsonValue } from '../../../domain/json.ts';
import type { Clock } from '../../../domain/ports.ts';
import { versionOf } from '../timestamp.ts';
import { isInherited, pathProblem, splitFieldPath } from './fieldPath.ts';
import { documentFields, Encoder, type Encoding, MAX_FIELDS, tooManyFields } from './fromJson.ts';
import { statusCode } from './statusCode.ts';

/** gRPC's codes. */
const [NOT_FOUND, ALREADY_EXISTS] = [5, 6];

type Fields = Readonly<Record<string, unknown>>;

/** A field's path as names, and its new value. */
type Assignment = readonly [path: readonly string[], value: unknown];

export async function write(
  clock: Clock,
  client: Firestore,
  path: DataPath,
  request: WriteRequest,
): Promise<WriteOutcome> {
  if (request.operation === 'push') return push(clock, client, path, request);
  const document = client.doc(path.text);
  return request.transaction ? writeOverRead(document, request) : writeAtOnce(document, request);
}

/**
 * Where the key is taken already, an earlier attempt of the same call took it: the SDK's, of one that was not
 * answered, or, where the key is derived, the caller's.
 */
async function push(
  clock: Clock,
  client: Firestore,
  path: DataPath,
  { data, derivedKey }: WriteRequest,
): Promise<WriteOutcome> {
  const collection = client.collection(path.text);
  const document = derivedKey === undefined ? collection.doc() : collection.doc(derivedKey);
  const fields = encoder(document, 'nowhere').document(data);
  try {
    return { key: document.id, ...outcomeOf(await document.create(fields)) };
  } catch (error) {
    if (statusCode(error) !== ALREADY_EXISTS) throw error;
    return { key: document.id, timestamp: clock.now() };
  }
}

async function writeAtOnce(document: DocumentReference, request: WriteRequest): Promise<WriteOutcome> {
  const { operation, merge, data } = request;
  if (operation === 'delete') return { timestamp: (await document.delete()).writeTime.toDate() };
  if (operation === 'update') return outcomeOf(await update(document, assignments(document, data)));
  const fields = encoder(document, merge ? 'anywhere' : 'nowhere').document(data);
  return outcomeOf(await (merge ? document.set(fields, { merge }) : document.set(fields)));
}

/**
 * Reads, compares and writes over exactly what was read. Preconditions do it, not Firestore's transactions,
 * which lock: docs/decisions/0001-optimistic-commits.md.
 */
async function writeOverRead(document: DocumentReference, request: WriteRequest): Promise<WriteOutcome> {
  const snapshot = await document.get();
  const { updateTime } = snapshot;
  const version = updateTime === undefined ? null : versionOf(updateTime);
  const { expectedVersion } = request;
  if (expectedVersion !== undefined && expectedVersion !== version) throw stale(version);
  try {
    return updateTime === undefined
      ? await writeOverNothing(document, request)
      : await writeOver(document, snapshot, updateTime, request);
  } catch (error) {
    throw statusCode(error) === NOT_FOUND ? writeConflict('It was deleted in between.', error) : error;
  }
}

async function writeOverNothing(document: DocumentReference, request: WriteRequest): Promise<WriteOutcome> {
  const { operation, merge, data } = request;
  if (operation === 'update') throw pathNotFound(document.path);
  if (operation === 'delete') {
    return { timestamp: (await document.delete({ exists: false })).writeTime.toDate() };
  }
  return outcomeOf(await document.create(encoder(document, merge ? 'dropped' : 'nowhere').document(data)));
}

async function writeOver(
  document: DocumentReference,
  snapshot: DocumentSnapshot,
  lastUpdateTime: Timestamp,
  { operation, merge, data }: WriteRequest,
): Promise<WriteOutcome> {
  const precondition = { lastUpdateTime };
  if (operation === 'delete') return { timestamp: (await document.delete(precondition)).writeTime.toDate() };
  if (operation === 'update')
    return outcomeOf(await update(document, assignments(document, data), precondition));
  const fields = encoder(document, merge ? 'anywhere' : 'nowhere').document(data);
  const changes = merge ? merging(fields, []) : replacing(fields, snapshot.data() ?? {});
  return outcomeOf(await update(document, changes.length > 0 ? changes : NO_CHANGE, precondition));
}

/** `set` takes no precondition, but an update that names every field comes to the same. */
function replacing(fields: Fields, old: Fields): readonly Assignment[] {
  const gone = Object.keys(old).filter((name) => !Object.hasOwn(fields, name));
  return [
    ...Object.entries(fields).map(([name, value]): Assignment => [[name], absolute(name, value)]),
    ...gone.map((name): Assignment => [[name], FieldValue.delete()]),
  ];
}

/** An update would let it build on the old value, which a set takes away first. */
function absolute(name: string, value: unknown): unknown {
  const relative = value instanceof FieldValue && !value.isEqual(FieldValue.serverTimestamp());
  if (!relative) return value;
  const what = 'What replaces a document in a transaction cannot build on what was there.';
  throw invalidDataType(`data.${name}`, what, 'Use update, or write the value itself.');
}

/** As `set` with `merge` understands its data: what it names to the last map is replaced. */
function merging(fields: Fields, above: readonly string[]): readonly Assignment[] {
  return Object.entries(fields).flatMap(([name, value]): readonly Assignment[] => {
    const path = [...above, name];
    return isFilledMap(value) ? merging(value, path) : [[path, value]];
  });
}

function isFilledMap(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.keys(value).length > 0;
}

/** An update must name a field, and rules must be asked also where nothing changes. */
const NO_CHANGE: readonly Assignment[] = [[['_'], FieldValue.delete()]];

/** What `update` names, each name a field's path. */
function assignments(document: DocumentReference, data: JsonValue): readonly Assignment[] {
  const values = encoder(document, 'top');
  const named = Object.entries(documentFields(data));
  if (named.length === 0) throw invalidRequest('data', 'An update names at least one field.');
  if (named.length > MAX_FIELDS) throw tooManyFields();
  const all = named.map(([text, value]): Assignment => {
    const field = `data.${text.slice(0, 200)}`;
    const problem = pathProblem(text);
    if (problem !== undefined) throw invalidDataType(field, `The path of a field ${problem}.`);
    const path = splitFieldPath(text);
    return [path, values.value(value ?? null, field, path.length)];
  });
  refuseOverlap(all);
  return all;
}

/** A field and one within it cannot both be assigned. */
function refuseOverlap(all: readonly Assignment[]): void {
  const assigned = new Set(all.map(([path]) => path.join('.')));
  for (const [path] of all) {
    const above = path.slice(0, -1).map((_name, index) => path.slice(0, index + 1).join('.'));
    const overlap = above.find((one) => assigned.has(one));
    if (overlap === undefined) continue;
    const suggestion = 'Name either the map or the fields in it.';
    throw invalidRequest(
      `data.${overlap.slice(0, 200)}`,
      'An update names a field, and a field in it too.',
      suggestion,
    );
  }
}

function refuseInherited(path: readonly string[]): void {
  const name = path.find(isInherited);
  if (name === undefined) return;
  throw invalidDataType(
    `data.${path.join('.').slice(0, 200)}`,
    `A field named "${name}" cannot be updated.`,
    'Use another name, or set the whole document without a transaction.',
  );
}

/** With field paths as arguments, since names may hold what the SDK does not take in a text. */
function update(
  document: DocumentReference,
  changes: readonly Assignment[],
  precondition?: Precondition,
): Promise<WriteResult> {
  for (const [path] of changes) refuseInherited(path);
  const [first = [[], undefined], ...others] = changes;
  const rest = others.flatMap(([path, value]) => [new FieldPath(...path), value]);
  const [path, value] = first;
  return document.update(new FieldPath(...path), value, ...rest, ...(precondition ? [precondition] : []));
}

function encoder(document: DocumentReference, deletes: Encoding['deletes']): Encoder {
  const { firestore } = document;
  return new Encoder({ reference: (path) => firestore.doc(path), deletes, transforms: true });
}

function outcomeOf({ writeTime }: WriteResult): WriteOutcome {
  return { timestamp: writeTime.toDate(), version: versionOf(writeTime) };
}

function stale(version: string | null) {
  return writeConflict(
    version === null ? 'There is nothing here any more, or not yet.' : 'It is not at expectedVersion.',
  );
}
