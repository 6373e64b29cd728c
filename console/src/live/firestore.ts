/** Listens to Firestore. The module is loaded in parallel to the first view, which does not wait for it. */
import {
  collection,
  connectFirestoreEmulator,
  doc,
  type Firestore,
  type FirestoreError,
  getCountFromServer,
  getDocs,
  getFirestore,
  limit,
  onSnapshot,
  orderBy,
  type Query,
  type QueryDocumentSnapshot,
  query,
  setDoc,
  where,
} from 'firebase/firestore';
import { connection } from '../session/session.ts';
import type { DocumentQuery, DocumentsQuery } from './query.ts';

export interface ReceivedDocument {
  readonly id: string;
  readonly data: unknown;
}

interface DocumentHandlers<Value> {
  next(value: Value, isFresh: boolean): void;
  error(error: FirestoreError): void;
}

let opened: Firestore | undefined;

function database(): Firestore {
  if (opened !== undefined) return opened;
  const { app, deployment } = connection();
  opened = getFirestore(app, __DATABASE_ID__);
  if (deployment.emulators !== undefined) {
    const { hostname, port } = new URL(`http://${deployment.emulators.firestore}`);
    connectFirestoreEmulator(opened, hostname, Number(port));
  }
  return opened;
}

export function watchDocuments(
  asked: DocumentsQuery,
  hearing: DocumentHandlers<readonly ReceivedDocument[]>,
): () => void {
  return onSnapshot(
    queryOf(asked),
    { includeMetadataChanges: true },
    {
      next: ({ docs, metadata }) => hearing.next(docs.map(toReceived), !metadata.fromCache),
      error: (error) => hearing.error(error),
    },
  );
}

/** Reads the documents once. */
export async function readDocuments(asked: DocumentsQuery): Promise<readonly ReceivedDocument[]> {
  return (await getDocs(queryOf(asked))).docs.map(toReceived);
}

/** Counts all documents that match a query, regardless of the query's limit. */
export async function countDocuments(asked: DocumentsQuery): Promise<number> {
  return (await getCountFromServer(unlimited(asked))).data().count;
}

function queryOf(asked: DocumentsQuery): Query {
  return query(unlimited(asked), limit(asked.limit));
}

function unlimited(asked: DocumentsQuery): Query {
  return query(
    collection(database(), asked.collection),
    ...asked.where.map(([field, comparison, value]) => where(field, comparison, value)),
    ...asked.orderBy.map(([field, direction]) => orderBy(field, direction)),
  );
}

function toReceived(one: QueryDocumentSnapshot): ReceivedDocument {
  return { id: one.id, data: one.data() };
}

/** Listens to one document. The value is undefined if the document does not exist. */
export function watchDocument(
  asked: DocumentQuery,
  hearing: DocumentHandlers<ReceivedDocument | undefined>,
): () => void {
  return onSnapshot(
    doc(database(), asked.document),
    { includeMetadataChanges: true },
    {
      next: (one) => hearing.next(one.exists() ? { id: one.id, data: one.data() } : undefined, !one.metadata.fromCache),
      error: (error) => hearing.error(error),
    },
  );
}

/** Writes a whole document as the signed-in person. Resolves when the server has stored the document. */
export function writeDocument(asked: DocumentQuery, data: Readonly<Record<string, unknown>>): Promise<void> {
  return setDoc(doc(database(), asked.document), data);
}
