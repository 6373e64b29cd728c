/** Snapshots of a document or a collection, as one kind of thing. */
import type { DocumentSnapshot, Firestore, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { DataPath } from '../../../domain/data/path.ts';
import type { JsonValue } from '../../../domain/json.ts';
import { versionOf } from '../timestamp.ts';

/** A document as a snapshot has it. */
export interface Row {
  readonly id: string;
  readonly version: string;
  data(): JsonValue;
}

export interface Difference {
  /** New, or changed. */
  readonly present: readonly Row[];
  /** The ids of those that are no more. */
  readonly gone: readonly string[];
}

export interface Snapshot {
  readonly size: number;
  /** All documents, in their order. */
  all(): readonly Row[];
  /** What is different from the snapshot before. */
  difference(): Difference;
}

export interface Listener {
  next(snapshot: Snapshot): void;
  failed(error: unknown): void;
}

/**
 * @param most how many documents are of interest: of a collection, one more is listened to
 * @param json a document as it is told of
 * @return ends the listening
 */
export function listen(
  client: Firestore,
  path: DataPath,
  most: number,
  json: (document: QueryDocumentSnapshot) => JsonValue,
  listener: Listener,
): () => void {
  const failed = (error: Error): void => listener.failed(error);
  if (path.kind === 'document') {
    return client.doc(path.text).onSnapshot((document) => listener.next(single(document, json)), failed);
  }
  const row = (document: QueryDocumentSnapshot): Row => rowOf(document, json);
  return client
    .collection(path.text)
    .limit(most + 1)
    .onSnapshot((snapshot) => {
      listener.next({
        size: snapshot.size,
        all: () => snapshot.docs.map(row),
        difference() {
          const changes = snapshot.docChanges();
          return {
            present: changes.filter(({ type }) => type !== 'removed').map(({ doc }) => row(doc)),
            gone: changes.filter(({ type }) => type === 'removed').map(({ doc }) => doc.id),
          };
        },
      });
    }, failed);
}

function single(document: DocumentSnapshot, json: (document: QueryDocumentSnapshot) => JsonValue): Snapshot {
  const rows = exists(document) ? [rowOf(document, json)] : [];
  return {
    size: rows.length,
    all: () => rows,
    difference: () => ({ present: rows, gone: rows.length === 0 ? [document.id] : [] }),
  };
}

/** The SDK's own class of a document that exists has no more than a narrower type. */
function exists(document: DocumentSnapshot): document is QueryDocumentSnapshot {
  return document.exists;
}

function rowOf(document: QueryDocumentSnapshot, json: (document: QueryDocumentSnapshot) => JsonValue): Row {
  return { id: document.id, version: versionOf(document.updateTime), data: () => json(document) };
}
