/** Writes a Firestore document exactly once, in one commit. */
import {
  type DocumentReference,
  FieldPath,
  FieldValue,
  type Firestore,
  type Precondition,
  type Timestamp,
  type WriteBatch,
} from '@google-cloud/firestore';
import { z } from 'zod/mini';
import type { Caller } from '../../../identity/rules/principal.ts';
import { IDEMPOTENCY_HOURS } from '../../../kernel/commit.ts';
import { type Fields, timestamp } from '../../../kernel/documentCodec.ts';
import { keyReused } from '../../../kernel/errors.ts';
import { writersCommitPath } from '../../../kernel/firestore/paths.ts';
import {
  type CommitMarkerReader,
  NO_MARKER,
  NOT_FOUND,
  statusCode,
  verifiedCommit,
  versionOf,
} from '../../../kernel/firestore/verifiedCommit.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { systemClock } from '../../../kernel/platform.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { DataPath, Repetition, WriteOutcome, WriteRequest } from '../rules/databaseAccess.ts';
import { invalidDataType, invalidRequest, pathNotFound, writeConflict } from '../rules/dataErrors.ts';
import { documentFields, Encoder, type Encoding, MAX_FIELDS, tooManyFields } from './fromJson.ts';
import { isInherited, pathProblem, splitFieldPath } from './values.ts';

export async function write(
  client: Firestore,
  caller: Caller,
  path: DataPath,
  request: WriteRequest,
): Promise<WriteOutcome> {
  const { operation, repetition } = request;
  // The marker uses the real time, as the security rules do. With an emulator, the simulated clock may differ.
  const proof = new WriteMarker(client, systemClock, caller, repetition);
  const isPush = operation === 'push';
  const document = isPush ? client.collection(path.text).doc(proof.id) : client.doc(path.text);
  let at = repetition && (await proof.committedAt());
  const isRepetition = at !== undefined;
  try {
    at ??= await writeOnce(document, request, proof);
  } catch (error) {
    // An earlier or concurrent call with the same idempotency key may have written the document.
    at = repetition && (await proof.committedAt());
    if (at === undefined) throw error;
  }
  if (at === undefined) throw new Error('Firestore returned no commit time for a write.');
  return {
    ...(isPush && { key: document.id }),
    timestamp: at.toDate(),
    ...(operation !== 'delete' && { version: versionOf(at) }),
    isRepetition,
  };
}

async function writeOnce(
  document: DocumentReference,
  request: WriteRequest,
  proof: WriteMarker,
): Promise<Timestamp | undefined> {
  const { operation, transaction, repetition } = request;
  const batch = document.firestore.batch();
  const isRepeatable = !transaction && add(batch, document, request);
  if (transaction) await addReplacement(batch, document, request);
  if (repetition === undefined && isRepeatable) {
    // The id of a pushed document is unique. If the document exists, this call created it.
    const pushed = { committedAt: async () => (await document.get()).createTime };
    return verifiedCommit(batch, operation === 'push' ? pushed : NO_MARKER);
  }
  proof.addTo(batch);
  try {
    return await verifiedCommit(batch, proof);
  } catch (error) {
    const isMissing = transaction && statusCode(error) === NOT_FOUND;
    throw isMissing ? writeConflict('The document was deleted since your read.', error) : error;
  }
}

/** Adds the write to the batch. Returns whether applying the write twice has the same result as applying it once. */
function add(batch: WriteBatch, document: DocumentReference, request: WriteRequest): boolean {
  const { operation, merge, data } = request;
  const values = encoder(document, deletesIn(request));
  if (operation === 'delete') batch.delete(document);
  else if (operation === 'update') update(batch, document, assignments(values, data));
  else if (operation === 'push') batch.create(document, values.document(data));
  else batch.set(document, values.document(data), { merge });
  return operation === 'push' || !values.increments;
}

/** Writes only if the document still has the version just read. Source: docs/decisions/0001-optimistic-commits.md. */
async function addReplacement(batch: WriteBatch, document: DocumentReference, request: WriteRequest) {
  const { operation, merge, data, expectedVersion } = request;
  const snapshot = await document.get();
  const { updateTime: lastUpdateTime } = snapshot;
  const version = lastUpdateTime === undefined ? null : versionOf(lastUpdateTime);
  if (expectedVersion !== undefined && expectedVersion !== version)
    throw writeConflict(version === null ? 'The document does not exist.' : 'The document has another version.');
  if (operation === 'delete') {
    batch.delete(document, lastUpdateTime === undefined ? { exists: false } : { lastUpdateTime });
  } else if (lastUpdateTime === undefined) {
    if (operation === 'update') throw pathNotFound(document.path);
    batch.create(document, encoder(document, merge ? 'dropped' : 'nowhere').document(data));
  } else {
    update(batch, document, changesOver(document, request, snapshot.data() ?? {}), { lastUpdateTime });
  }
}

function changesOver(document: DocumentReference, request: WriteRequest, old: Fields): readonly Assignment[] {
  const { operation, merge, data } = request;
  const values = encoder(document, deletesIn(request));
  if (operation === 'update') return assignments(values, data);
  const fields = values.document(data);
  return merge ? merging(fields, []) : replacing(fields, old);
}

function deletesIn({ operation, merge }: WriteRequest): Encoding['deletes'] {
  if (operation === 'update') return 'top';
  return merge ? 'anywhere' : 'nowhere';
}

function encoder({ firestore: client }: DocumentReference, deletes: Encoding['deletes']): Encoder {
  return new Encoder({ client, deletes, transforms: true });
}

/** One field update: the names in the path of the field, and the new value. */
type Assignment = readonly [path: readonly string[], value: unknown];

/** Returns an update that replaces all fields. Unlike `set`, an update can require a version of the document. */
function replacing(fields: Fields, old: Fields): readonly Assignment[] {
  for (const [name, value] of Object.entries(fields)) {
    // As part of an update, the transform would change the old value, but in a `set` it has no old value to change.
    if (!(value instanceof FieldValue) || value.isEqual(FieldValue.serverTimestamp())) continue;
    const what = 'With transaction, set cannot contain transforms of the old value, such as __increment__.';
    throw invalidDataType(`data.${name}`, what, 'Use the operation update, or send the new value itself.');
  }
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(fields, name));
  const all = [...Object.entries(fields), ...removed.map((name) => [name, FieldValue.delete()] as const)];
  return all.map(([name, value]) => [[name], value]);
}

/** Returns an update like `set` with `merge`: replaces the values in maps one by one, and other values as a whole. */
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

/** Changes nothing. An update needs a field, even if it is only made so that the rules check the write. */
const NO_CHANGE: Assignment = [['_'], FieldValue.delete()];

/** Returns the field updates for the operation `update`. The keys of its data are field paths. */
function assignments(values: Encoder, data: JsonValue): readonly Assignment[] {
  const named = Object.entries(documentFields(data));
  if (named.length === 0) throw invalidRequest('data', 'An update must have at least one field.');
  if (named.length > MAX_FIELDS) throw tooManyFields();
  const all = named.map(([text, value]): Assignment => {
    const field = `data.${text.slice(0, 200)}`;
    const problem = pathProblem(text);
    if (problem !== undefined) throw invalidDataType(field, `The field path ${problem}.`);
    const path = splitFieldPath(text);
    return [path, values.value(value ?? null, field, path.length)];
  });
  rejectOverlap(all);
  return all;
}

/** Throws if the update contains both a field and a field inside it. */
function rejectOverlap(all: readonly Assignment[]): void {
  const assigned = new Set(all.map(([path]) => path.join('.')));
  for (const [path] of all) {
    const above = path.slice(1).map((_name, index) => path.slice(0, index + 1).join('.'));
    const overlap = above.find((one) => assigned.has(one));
    if (overlap === undefined) continue;
    const what = 'An update cannot contain both a field and a field inside it.';
    throw invalidRequest(`data.${overlap.slice(0, 200)}`, what, 'Send either the map or the fields inside the map.');
  }
}

/** Adds an update to the batch. Field paths are objects, because the SDK rejects some valid paths as text. */
function update(
  batch: WriteBatch,
  document: DocumentReference,
  changes: readonly Assignment[],
  ...precondition: Precondition[]
): void {
  for (const [path] of changes) {
    const name = path.find(isInherited);
    if (name === undefined) continue;
    const suggestion = 'Use another name, or set the whole document without a transaction.';
    const field = `data.${path.join('.').slice(0, 200)}`;
    throw invalidDataType(field, `A field named "${name}" cannot be updated.`, suggestion);
  }
  const [[path, value] = NO_CHANGE, ...others] = changes;
  const rest = others.flatMap(([path, value]) => [new FieldPath(...path), value]);
  batch.update(document, new FieldPath(...path), value, ...rest, ...precondition);
}

/** Hours for which a marker without an idempotency key is kept. After a lost response, minutes would be enough. */
const UNKEYED_MARKER_HOURS = 1;
export const markerDocument = z.object({ arguments_hash: z.optional(z.string()), expires_at: timestamp });

/** The commit marker of a write with the caller's credentials, which shows whether the write was committed. */
export class WriteMarker implements CommitMarkerReader {
  /** Id of the marker, and of the document that a push creates. */
  readonly id: string;
  private readonly client: Firestore;
  private readonly clock: Clock;
  private readonly uid: string;
  private readonly repetition: Repetition | undefined;

  constructor(client: Firestore, clock: Clock, { principal }: Caller, repetition: Repetition | undefined) {
    this.id = repetition?.id ?? client.collection('any').doc().id; // 20 random characters
    this.client = client;
    this.clock = clock;
    this.uid = principal.uid;
    this.repetition = repetition;
  }

  private get document(): DocumentReference {
    return this.client.doc(writersCommitPath(this.uid, this.id));
  }

  addTo(batch: WriteBatch): void {
    const hours = this.repetition === undefined ? UNKEYED_MARKER_HOURS : IDEMPOTENCY_HOURS;
    batch.create(this.document, {
      expires_at: new Date(this.clock.now().getTime() + hours * 3_600_000),
      ...(this.repetition && { arguments_hash: this.repetition.argumentsHash }),
    });
  }

  /**
   * Returns the time of the commit; undefined if nothing was committed or the marker has expired.
   * @throws MusterError CONFLICT if a different write has used the same idempotency key
   */
  async committedAt(): Promise<Timestamp | undefined> {
    const snapshot = await this.document.get();
    const { createTime } = snapshot;
    if (createTime === undefined) return undefined;
    const { arguments_hash, expires_at } = markerDocument.parse(snapshot.data());
    if (expires_at <= this.clock.now()) {
      await this.document.delete();
      return undefined;
    }
    if (arguments_hash !== this.repetition?.argumentsHash) throw keyReused();
    return createTime;
  }
}
