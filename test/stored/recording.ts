/** Records the documents that the current code writes, by collection and id, without sending them to Firestore. */

import assert from 'node:assert/strict';
import { type DocumentReference, FieldValue, Firestore, type SetOptions } from '@google-cloud/firestore';
import { changeEffects, changeLoosening, changeWriters } from '../../functions/src/composition/changes.ts';
import { DocumentReading } from '../../functions/src/kernel/firestore/reading.ts';
import { FirestoreStore } from '../../functions/src/kernel/firestore/store.ts';
import { WriteMarker } from '../../functions/src/toolsets/firebase/firestore/write.ts';
import { FirestoreSweepRecord } from '../../functions/src/toolsets/system/store/metrics.ts';
import { recordArrivalIn } from '../../functions/src/toolsets/todo/store/events.ts';
import { FirestoreNotifications } from '../../functions/src/toolsets/todo/store/notifications.ts';
import { ARRIVAL, BEHIND, CALLER, CHANGES, NOTIFICATION, OUTAGE, REPETITION, SETTLED, TOLD } from './samples.ts';

/** The documents of one collection, by their ids. */
export type Documents = Readonly<Record<string, unknown>>;

const SILENT = { info() {}, warn() {}, error() {} };

const NO_CHANCE = {
  uuid: () => '00000000-0000-4000-8000-000000000000',
  letters: (length: number) => 'a'.repeat(length),
  secret: (bytes: number) => 'a'.repeat(bytes),
  integer: () => 0,
};

/** Returns the collection of a document path, such as `tasks` or `tasks.logs`. */
export function collectionOf(path: string): string {
  return path
    .split('/')
    .filter((_, index) => index % 2 === 0)
    .join('.');
}

export async function recorded(): Promise<ReadonlyMap<string, Documents>> {
  const found = new Map<string, Record<string, unknown>>();
  const keep = (path: string, data: unknown): void => {
    const collection = collectionOf(path);
    const documents = found.get(collection) ?? {};
    const form = storedForm(data);
    // If two samples write the same document with different data, both are recorded, under different ids.
    let id = path.slice(path.lastIndexOf('/') + 1);
    while (id in documents && JSON.stringify(documents[id]) !== JSON.stringify(form)) id += "'";
    found.set(collection, { ...documents, [id]: form });
  };
  const database = recording(keep);
  const documents = new DocumentReading({ note() {}, recent: async () => [] });
  const clock = { now: () => new Date(0) };
  const store = new FirestoreStore({
    database,
    clock,
    randomness: NO_CHANCE,
    effects: changeEffects,
    loosening: changeLoosening,
    writers: changeWriters,
  });
  for (const change of CHANGES) await store.commit([change]);
  await store.commit([], { response: SETTLED });
  for (const [changes, record] of TOLD) await store.commit(changes, record);
  await recordArrivalIn(database)(...ARRIVAL);
  await new FirestoreNotifications(database, documents).queueEmail('ada@example.com', NOTIFICATION);
  const sweepRecord = new FirestoreSweepRecord({ database, sweep: 'main', log: SILENT });
  await sweepRecord.saveOutage(OUTAGE);
  await sweepRecord.saveBehind(BEHIND);
  new WriteMarker(database, clock, CALLER, REPETITION).addTo(database.batch());
  return found;
}

/** Returns a Firestore client that validates writes and records them instead of sending them. */
function recording(keep: (path: string, data: unknown) => void): Firestore {
  const created = new Set<string>();
  const database = new Firestore({ projectId: 'recorded' });
  const [newBatch, documentAt] = [database.batch.bind(database), database.doc.bind(database)];
  database.batch = () => {
    const [checked, batch] = [newBatch(), newBatch()];
    return Object.assign(batch, {
      create: (document: DocumentReference, data: object) => {
        created.add(document.path);
        keep(document.path, data);
        checked.create(document, data);
        return batch;
      },
      set: (document: DocumentReference, data: object, options: SetOptions = {}) => {
        // If a sample creates a document, the sample's later writes to it are not recorded as separate documents.
        if (!created.has(document.path)) keep(document.path, data);
        checked.set(document, data, options);
        return batch;
      },
      commit: () => Promise.resolve([]),
    });
  };
  database.doc = (path) => {
    const document = documentAt(path);
    const create = async (data: object) => {
      await database.batch().create(document, data).commit();
    };
    const set = async (data: object, options: SetOptions = {}) => {
      await database.batch().set(document, data, options).commit();
    };
    return Object.assign(document, { create, set });
  };
  return database;
}

/** Returns the JSON form: dates as `{"$time": "…"}`, server time as the epoch, and increments as their operands. */
function storedForm(value: unknown): unknown {
  if (value instanceof Date) return { $time: value.toISOString() };
  if (value instanceof FieldValue) {
    if (value.isEqual(FieldValue.serverTimestamp())) return storedForm(new Date(0));
    const added: unknown = Reflect.get(value, 'operand') ?? Reflect.get(value, 'elements');
    assert.notEqual(added, undefined, 'increments and array unions are the only transforms that can be recorded');
    return storedForm(added);
  }
  if (Array.isArray(value)) return value.map(storedForm);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, storedForm(field)]));
}
