/** Writes a document, in one commit, once. */
import type {
  DocumentReference,
  DocumentSnapshot,
  Firestore,
  Timestamp,
  WriteBatch,
} from '@google-cloud/firestore';
import type { WriteOutcome, WriteRequest } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import { pathNotFound, writeConflict } from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import type { Clock } from '../../../domain/ports.ts';
import { commitProven, type Proof, UNPROVEN } from '../provenCommit.ts';
import { NOT_FOUND, statusCode } from '../statusCode.ts';
import { versionOf } from '../timestamp.ts';
import { assignments, merging, NO_CHANGE, replacing, update } from './assignments.ts';
import { Encoder, type Encoding } from './fromJson.ts';
import { WriteProof } from './writeProof.ts';

/** What goes into the commit beside its proof, and whether it is the same when it is done twice. */
interface Planned {
  addTo(batch: WriteBatch): void;
  readonly isRepeatable: boolean;
}

export interface WriteScope {
  readonly clock: Clock;
  readonly client: Firestore;
  readonly caller: Caller;
}

export async function write(scope: WriteScope, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
  const { operation, repetition } = request;
  const { client, clock, caller } = scope;
  const collection = operation === 'push' ? client.collection(path.text) : undefined;
  const pushed = repetition === undefined ? collection?.doc() : collection?.doc(repetition.id);
  const document = pushed ?? client.doc(path.text);
  const key = pushed?.id;
  if (repetition === undefined) return outcomeOf(await writeOnce(scope, document, request), request, key);

  const proof = new WriteProof(client, clock, caller, repetition);
  const before = await proof.carriedOutAt();
  if (before !== undefined) return outcomeOf(before, request, key);
  try {
    return outcomeOf(await writeOnce(scope, document, request, proof), request, key);
  } catch (error) {
    // Whatever refused this call may be what the same call has just done, sent at the same time.
    const meanwhile = await proof.carriedOutAt();
    if (meanwhile === undefined) throw error;
    return outcomeOf(meanwhile, request, key);
  }
}

async function writeOnce(
  { client, clock, caller }: WriteScope,
  document: DocumentReference,
  request: WriteRequest,
  keyed?: WriteProof,
): Promise<Timestamp | undefined> {
  const planned = await plan(document, request);
  const batch = client.batch();
  planned.addTo(batch);
  if (keyed === undefined && planned.isRepeatable) return commitProven(batch, proofOfPush(document, request));
  const proof = keyed ?? new WriteProof(client, clock, caller, undefined);
  proof.addTo(batch);
  try {
    return await commitProven(batch, proof);
  } catch (error) {
    const isGone = request.transaction && statusCode(error) === NOT_FOUND;
    throw isGone ? writeConflict('It was deleted in between.', error) : error;
  }
}

/** Nobody else has the key of what is pushed: where it is there, it was pushed. */
function proofOfPush(document: DocumentReference, { operation }: WriteRequest): Proof {
  if (operation !== 'push') return UNPROVEN;
  return { carriedOutAt: async () => (await document.get()).createTime };
}

async function plan(document: DocumentReference, request: WriteRequest): Promise<Planned> {
  const { operation, merge, transaction, data } = request;
  if (transaction) return { addTo: await planOverRead(document, request), isRepeatable: false };
  if (operation === 'delete') return { addTo: (batch) => batch.delete(document), isRepeatable: true };
  const values = encoder(document, operation === 'update' ? 'top' : merge ? 'anywhere' : 'nowhere');
  if (operation === 'update') {
    const changes = assignments(values, data);
    return { addTo: (batch) => update(batch, document, changes), isRepeatable: !values.increments };
  }
  const fields = values.document(data);
  if (operation === 'push') return { addTo: (batch) => batch.create(document, fields), isRepeatable: true };
  const options = merge ? { merge } : {};
  return { addTo: (batch) => batch.set(document, fields, options), isRepeatable: !values.increments };
}

/**
 * Reads, compares and writes over exactly what was read. Preconditions do it, not Firestore's transactions,
 * which lock: docs/decisions/0001-optimistic-commits.md.
 */
async function planOverRead(document: DocumentReference, request: WriteRequest): Promise<Planned['addTo']> {
  const snapshot = await document.get();
  const { updateTime } = snapshot;
  const version = updateTime === undefined ? null : versionOf(updateTime);
  const { expectedVersion } = request;
  if (expectedVersion !== undefined && expectedVersion !== version) throw stale(version);
  return updateTime === undefined
    ? planOverNothing(document, request)
    : planOver(document, snapshot, updateTime, request);
}

function planOverNothing(document: DocumentReference, request: WriteRequest): Planned['addTo'] {
  const { operation, merge, data } = request;
  if (operation === 'update') throw pathNotFound(document.path);
  if (operation === 'delete') return (batch) => batch.delete(document, { exists: false });
  const fields = encoder(document, merge ? 'dropped' : 'nowhere').document(data);
  return (batch) => batch.create(document, fields);
}

function planOver(
  document: DocumentReference,
  snapshot: DocumentSnapshot,
  lastUpdateTime: Timestamp,
  { operation, merge, data }: WriteRequest,
): Planned['addTo'] {
  const precondition = { lastUpdateTime };
  if (operation === 'delete') return (batch) => batch.delete(document, precondition);
  const values = encoder(document, operation === 'update' ? 'top' : merge ? 'anywhere' : 'nowhere');
  if (operation === 'update') {
    const named = assignments(values, data);
    return (batch) => update(batch, document, named, precondition);
  }
  const fields = values.document(data);
  const changes = merge ? merging(fields, []) : replacing(fields, snapshot.data() ?? {});
  return (batch) => update(batch, document, changes.length > 0 ? changes : NO_CHANGE, precondition);
}

function encoder(document: DocumentReference, deletes: Encoding['deletes']): Encoder {
  const { firestore } = document;
  return new Encoder({ reference: (path) => firestore.doc(path), deletes, transforms: true });
}

function outcomeOf(
  at: Timestamp | undefined,
  { operation }: WriteRequest,
  key: string | undefined,
): WriteOutcome {
  if (at === undefined) throw new Error('Firestore has committed a write and not said when.');
  return {
    ...(key !== undefined && { key }),
    timestamp: at.toDate(),
    ...(operation !== 'delete' && { version: versionOf(at) }),
  };
}

function stale(version: string | null) {
  return writeConflict(
    version === null ? 'There is nothing here any more, or not yet.' : 'It is not at expectedVersion.',
  );
}
