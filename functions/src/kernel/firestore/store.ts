/** Commits changes atomically and exactly once, in one Firestore write batch. */
import {
  type DocumentReference,
  type FieldPath,
  FieldValue,
  type Firestore,
  type Precondition,
  type WriteBatch,
} from '@google-cloud/firestore';
import { z } from 'zod/mini';
import { AS_JSON, type AuditEffect, type AuditEntry, auditEntryCodec } from '../auditLog.ts';
import { type CallRecord, type ChangeOf, type RecordedResponse, StaleWriteError } from '../commit.ts';
import { documentCodec, jsonText, timestamp } from '../documentCodec.ts';
import { changedPart, itemKey, storedEffects } from '../effects.ts';
import { MusterError } from '../errors.ts';
import { type LooseningOf, requireNoLoosening } from '../loosening.ts';
import { type Clock, type Randomness, type RecordedResponseQueries, Service } from '../ports.ts';
import { TOO_LARGE, tooLarge } from './client.ts';
import { auditPath, commitPath, idempotencyPath } from './paths.ts';
import { FirestoreReader } from './reading.ts';
import {
  ALREADY_EXISTS,
  atVersion,
  CommitMarker,
  INVALID_ARGUMENT,
  NOT_FOUND,
  STALE_CODES,
  statusCode,
  verifiedCommit,
} from './verifiedCommit.ts';

const MARKER_LETTERS = 20;

/** Functions that add a feature's changes to the batch of a commit, one for each kind of change. */
export type ChangeWriters<Changes> = {
  readonly [Kind in keyof Changes]: (change: Changes[Kind], writes: CommitWrites) => void;
};

type Fields = Record<string, unknown>;
type FieldPair = readonly [field: string | FieldPath, value: unknown];
/** The writes of one commit. The first document that can store the commit marker stores it. */
export class CommitWrites {
  readonly batch: WriteBatch;
  readonly marker: CommitMarker;
  readonly randomness: Randomness;
  readonly now: Date;
  /** Paths of documents that a write needs, but that an operator may have deleted. */
  readonly existingDocuments = new Set<string>();
  private readonly database: Firestore;
  private readonly deleted: ReadonlySet<string>;
  private readonly additions = new Map<string, { readonly amounts: Map<string, number>; readonly fields: Fields }>();
  /** Update time that the first write to each path expects; empty if the first write expects none. */
  private readonly expectedTimes = new Map<string, string>();

  /** @param deletedPaths paths of `existingDocuments` whose documents an earlier attempt of the commit did not find */
  constructor(database: Firestore, randomness: Randomness, now: Date, deletedPaths: ReadonlySet<string>) {
    this.batch = database.batch();
    this.marker = new CommitMarker(randomness.letters(MARKER_LETTERS));
    this.randomness = randomness;
    this.now = now;
    this.database = database;
    this.deleted = deletedPaths;
  }

  /** Returns the document to write. @throws StaleWriteError if the path's first write expects another version */
  document(path: string, version?: string): DocumentReference {
    const [time = ''] = version?.split('/') ?? [];
    const first = this.expectedTimes.get(path) ?? time;
    if (time !== '' && time !== first) throw new StaleWriteError();
    this.expectedTimes.set(path, first);
    return this.database.doc(path);
  }

  /** Creates a document. The commit is stale if the document exists. */
  create(path: string, data: Fields): void {
    this.batch.create(this.document(path), data);
  }

  /** Creates a document that is never deleted. The commit is stale if the document exists. */
  createPermanent(path: string, data: Fields): void {
    const document = this.document(path);
    this.batch.create(document, this.marker.addTo(document, data));
  }

  /** Creates the document, or replaces the document of the version `replaces`. */
  createOrReplace(path: string, data: Fields, replaces: string | undefined): void {
    if (replaces === undefined) this.create(path, data);
    else this.replace(path, data, replaces);
  }

  set(path: string, data: Fields): void {
    this.batch.set(this.document(path), data);
  }

  /** Sets the given fields. Creates the document if it does not exist. */
  merge(path: string, data: Fields): void {
    this.batch.set(this.document(path), data, { merge: true });
  }

  /** Updates the given fields. The commit is stale if the document does not exist. */
  update(path: string, data: Fields): void {
    this.batch.update(this.document(path), data);
  }

  /** Updates the document if it exists. If an operator has deleted the document, the commit still succeeds. */
  updateIfExists(path: string, [[field, value], ...more]: readonly [FieldPair, ...FieldPair[]]): void {
    this.existingDocuments.add(path);
    if (!this.deleted.has(path)) this.batch.update(this.document(path), field, value, ...more.flat());
  }

  /** Updates a document that is never changed or deleted after this commit. */
  updatePermanent(path: string, data: Fields): void {
    const document = this.document(path);
    this.batch.update(document, this.marker.addTo(document, data));
  }

  /** Updates the given fields of a document. The commit is stale if the document is at another version. */
  replace(path: string, data: Fields, version: string): void {
    this.batch.update(this.document(path, version), data, atVersion(version));
  }

  /** Like `replace`, with field paths. */
  replaceFields(path: string, [first, ...more]: readonly FieldPair[], version: string): void {
    const document = this.document(path, version);
    if (first !== undefined) this.batch.update(document, ...first, ...more.flat(), atVersion(version));
  }

  /** Like `replace`, for a document that stores the ids of its latest commits. */
  replaceLatest(path: string, data: Fields, version: string): void {
    const document = this.document(path, version);
    this.batch.update(document, this.marker.addToLatest(document, data, version), atVersion(version));
  }

  /**
   * Adds to number fields of a document, and sets other fields. All additions of a commit to one document become one
   * write, because Firestore limits the operations on each document in a commit.
   * @param amounts the number to add, by field path: `totals.attempts`
   */
  add(path: string, amounts: Readonly<Record<string, number>>, fields: Fields = {}): void {
    const addition = this.additions.get(path) ?? { amounts: new Map(), fields: {} };
    for (const [field, amount] of Object.entries(amounts))
      addition.amounts.set(field, (addition.amounts.get(field) ?? 0) + amount);
    Object.assign(addition.fields, fields);
    this.additions.set(path, addition);
  }

  /** Adds the collected additions to the batch, after the writes that create documents. */
  writeAdditions(): void {
    for (const [path, { amounts, fields }] of this.additions) {
      const data: Fields = { ...fields };
      for (const [field, amount] of amounts)
        if (amount !== 0) nest(data, field.split('.'), FieldValue.increment(amount));
      if (Object.keys(data).length > 0) this.merge(path, data);
    }
  }

  delete(path: string, precondition: Precondition = {}): void {
    this.batch.delete(this.document(path), precondition);
  }

  deleteAt(path: string, version: string): void {
    this.batch.delete(this.document(path, version), atVersion(version));
  }
}

/** Sets a value in an object at a path of nested fields, and returns the object. */
function nest(into: Fields, [field = '', ...deeper]: readonly string[], value: unknown): Fields {
  const inner: Fields = {};
  into[field] = deeper.length === 0 ? value : nest(Object.assign(inner, into[field]), deeper, value);
  return into;
}

/** Returns Firestore field values that add to the current numbers. */
export function increments(by: Readonly<Record<string, number>>): Record<string, FieldValue> {
  return Object.fromEntries(Object.entries(by).map(([counter, delta]) => [counter, FieldValue.increment(delta)]));
}

/** Lifetime of a commit marker. After a lost response, the marker is read within minutes. */
const COMMIT_MARKER_TTL_MS = 3_600_000;

export class FirestoreStore<Kinds> extends Service<{
  readonly database: Firestore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly writers: ChangeWriters<Kinds>;
  readonly effects: EffectsOf<Kinds>;
  readonly loosening: LooseningOf<Kinds>;
  /** Called after each commit. The commit returns after the call has finished. */
  readonly followed?: (changes: readonly ChangeOf<Kinds>[]) => Promise<void>;
}> {
  private readonly counts = new Map<keyof Kinds, number>();

  /** Returns the number of changes of a kind that this instance has tried to commit, including failed commits. */
  committed(kind: keyof Kinds): number {
    return this.counts.get(kind) ?? 0;
  }

  async commit(changes: readonly ChangeOf<Kinds>[], record?: CallRecord): Promise<void> {
    const { loosening } = this.ports;
    if (changes.some(({ kind }) => loosening[kind] !== null)) requireNoLoosening(loosening, changes, record?.by);
    const recorded = record?.response;
    if (changes.length === 0 && recorded === undefined) return;
    const { database, clock, randomness } = this.ports;
    const writesWithout = (deletedPaths: ReadonlySet<string>): CommitWrites =>
      this.writesOf(changes, record, new CommitWrites(database, randomness, clock.now(), deletedPaths));
    try {
      const { batch, marker, existingDocuments } = writesWithout(new Set());
      try {
        const version = marker.versionAfter(await verifiedCommit(batch, marker));
        if (version !== undefined) record?.onVersion?.(version);
      } catch (error) {
        const deletedPaths =
          statusCode(error) === NOT_FOUND ? await this.deletedDocumentsOf(existingDocuments) : new Set<string>();
        if (deletedPaths.size === 0) throw error;
        const again = writesWithout(deletedPaths);
        await verifiedCommit(again.batch, again.marker);
      }
    } catch (error) {
      throw await this.explainedError(error, recorded);
    } finally {
      for (const { kind } of changes) this.counts.set(kind, this.committed(kind) + 1);
    }
    await this.ports.followed?.(changes);
  }

  private writesOf(
    changes: readonly ChangeOf<Kinds>[],
    record: CallRecord | undefined,
    writes: CommitWrites,
  ): CommitWrites {
    const recorded = record?.response;
    if (recorded !== undefined)
      writes.createPermanent(idempotencyPath(recorded.id), recordedResponseToDocument(recorded));
    this.addEntry(changes, record, writes);
    for (const change of changes) this.write(change, writes);
    writes.writeAdditions();
    const { marker, now } = writes;
    if (!marker.isWritten) {
      const expires_at = new Date(now.getTime() + COMMIT_MARKER_TTL_MS);
      writes.createPermanent(commitPath(marker.id), { expires_at });
    }
    return writes;
  }

  private async deletedDocumentsOf(paths: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { database } = this.ports;
    const documents = [...paths].map((path) => database.doc(path));
    const found = documents.length === 0 ? [] : await database.getAll(...documents, { fieldMask: [] });
    return new Set(found.filter(({ exists }) => !exists).map(({ ref }) => ref.path));
  }

  private write<Kind extends keyof Kinds>(change: ChangeOf<Pick<Kinds, Kind>>, writes: CommitWrites): void {
    this.ports.writers[change.kind](change, writes);
  }

  private addEntry(changes: readonly ChangeOf<Kinds>[], record: CallRecord | undefined, writes: CommitWrites): void {
    const effects = record?.by ? auditEffects(this.ports.effects, changes) : [];
    if (record?.by === undefined || effects.length === 0) return;
    const { clock, randomness } = this.ports;
    const { by, undoes } = record;
    const entry = { id: randomness.letters(MARKER_LETTERS), at: clock.now(), by, effects };
    writes.createPermanent(auditPath(entry.id), entryToDocument({ ...entry, ...(undoes && { undoes: undoes.id }) }));
    if (undoes !== undefined) writes.replace(auditPath(undoes.id), { undone_by: entry.id }, undoes.version);
  }

  /** Converts the error of a failed commit to an error that services handle. Returns unknown errors unchanged. */
  private async explainedError(error: unknown, recorded: RecordedResponse | undefined): Promise<unknown> {
    const code = statusCode(error);
    if (code === INVALID_ARGUMENT && TOO_LARGE.test(String(error))) return tooLarge(error);
    if (!STALE_CODES.includes(code)) return error;
    if (code === ALREADY_EXISTS && recorded !== undefined) await rejectRepeatedCall(this.ports, recorded.id);
    return new StaleWriteError({ cause: error });
  }
}

export class FirestoreRecordedResponseQueries extends FirestoreReader implements RecordedResponseQueries {
  async find(id: string): Promise<RecordedResponse | undefined> {
    const snapshot = await this.database.doc(idempotencyPath(id)).get();
    return this.documents.find(snapshot, (data) => recordedResponseFromDocument(id, data));
  }
}

export function recordedResponseFromDocument(id: string, data: unknown): RecordedResponse {
  return { id, ...codec.fromDocument(data) };
}

const codec = documentCodec(z.object({ arguments_hash: z.string(), answer: jsonText, expires_at: timestamp }));
export const recordedResponseToDocument = codec.toDocument;

/** Checks whether a stale commit repeats a call. @throws MusterError CONFLICT if the call has a stored result */
export async function rejectRepeatedCall(
  { database, clock }: { readonly database: Firestore; readonly clock: Clock },
  id: string,
): Promise<void> {
  const document = database.doc(idempotencyPath(id));
  const snapshot = await document.get();
  if (!snapshot.exists) return;
  if (recordedResponseFromDocument(id, snapshot.data()).expires_at <= clock.now()) {
    const asItWas = snapshot.updateTime && { lastUpdateTime: snapshot.updateTime };
    await document.delete(asItWas).catch(() => undefined); // A concurrent call may have replaced the stored response.
    return;
  }
  throw new MusterError('CONFLICT', 'Another call used this idempotency_key at the same time.', {
    field: 'idempotency_key',
    reason: 'ALREADY_SETTLED',
    suggestion: 'Retry to get the result of the other call.',
  });
}

/** Functions that return a change's audit effect, by kind. A kind is absent if another change records its effect. */
export type EffectsOf<Changes> = {
  readonly [Kind in keyof Changes]?: (change: Changes[Kind]) => AuditEffect | undefined;
};

/** Converts an audit entry to its document, and adds the fields by which queries find audit entries. */
export function entryToDocument(entry: AuditEntry): Record<string, unknown> {
  // An effect that has neither a workspace nor an owner gets the workspace of the call.
  const effects = entry.effects.map((effect) =>
    effect.workspace !== undefined || effect.owner_uid !== undefined
      ? effect
      : { ...effect, workspace: entry.by.workspace },
  );
  const kept = { ...entry, effects: storedEffects(effects).map(stored) };
  const workspace = effects.find((effect) => effect.workspace !== undefined)?.workspace ?? null;
  return { ...auditEntryCodec.toDocument(kept), workspace, things: [...new Set(effects.map(itemKey))] };
}

function stored(effect: AuditEffect): AuditEffect {
  const { before, after, free_form } = effect;
  if (!free_form) return effect;
  const asJson = (state: Fields) => ({ [AS_JSON]: JSON.stringify(state) });
  return { ...effect, ...(before && { before: asJson(before) }), ...(after && { after: asJson(after) }) };
}

/** Returns the audit effects of a commit's changes. */
export function auditEffects<Changes, Kind extends keyof Changes>(
  described: EffectsOf<Changes>,
  changes: readonly ({ readonly kind: Kind } & Changes[Kind])[],
): readonly AuditEffect[] {
  return changes.flatMap((change) => {
    const effect = described[change.kind]?.(change);
    return (effect && changedPart(effect)) ?? [];
  });
}
