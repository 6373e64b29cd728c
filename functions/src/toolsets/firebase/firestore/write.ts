/** Writes a document, in one commit, once. */

import type {
  DocumentReference,
  DocumentSnapshot,
  Firestore,
  Timestamp,
  WriteBatch,
} from '@google-cloud/firestore';
import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import { REPLAY_HOURS } from '../../../kernel/commit.ts';
import { keyReused } from '../../../kernel/errors.ts';
import { timestamp } from '../../../kernel/firestore/codec.ts';
import { writersCommitPath } from '../../../kernel/firestore/paths.ts';
import {
  commitProven,
  NOT_FOUND,
  type Proof,
  statusCode,
  UNPROVEN,
  versionOf,
} from '../../../kernel/firestore/provenCommit.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { DataPath, Repetition, WriteOutcome, WriteRequest } from '../rules/access.ts';
import { pathNotFound, writeConflict } from '../rules/errors.ts';
import { assignments, merging, NO_CHANGE, replacing, update } from './assignments.ts';
import { Encoder, type Encoding } from './fromJson.ts';

/** What goes into the commit beside its proof, and whether it is the same when it is done twice. */
interface Planned {
  addTo(batch: WriteBatch): void;
  readonly isRepeatable: boolean;
}

interface WriteScope {
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

// That a write was carried out which its caller made as themselves, under the security rules.

/** A lost answer is asked for within minutes; the document is deleted some time after that. */
const UNKEYED_HOURS = 1;

export const proofDocument = z.object({ arguments_hash: z.string().optional(), expires_at: timestamp });

export class WriteProof implements Proof {
  private readonly document: DocumentReference;
  private readonly clock: Clock;
  private readonly repetition: Repetition | undefined;

  constructor(client: Firestore, clock: Clock, { principal }: Caller, repetition: Repetition | undefined) {
    const id = repetition?.id ?? client.collection('any').doc().id; // 20 random characters
    this.document = client.doc(writersCommitPath(principal.uid, id));
    this.clock = clock;
    this.repetition = repetition;
  }

  addTo(batch: WriteBatch): void {
    const hours = this.repetition === undefined ? UNKEYED_HOURS : REPLAY_HOURS;
    batch.create(this.document, {
      expires_at: new Date(this.clock.now().getTime() + hours * 3_600_000),
      ...(this.repetition && { arguments_hash: this.repetition.argumentsHash }),
    });
  }

  /**
   * When the write was carried out; undefined where it was not, or so long ago that its key is free again.
   * @throws MusterError CONFLICT where another write of the same key was
   */
  async carriedOutAt(): Promise<Timestamp | undefined> {
    const snapshot = await this.document.get();
    const { createTime } = snapshot;
    if (createTime === undefined) return undefined;
    const { arguments_hash, expires_at } = proofDocument.parse(snapshot.data());
    if (expires_at <= this.clock.now()) {
      await this.document.delete();
      return undefined;
    }
    if (arguments_hash !== this.repetition?.argumentsHash) throw keyReused();
    return createTime;
  }
}
