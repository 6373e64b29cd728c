/** Operations of a client on a document of Firestore or a node of the Realtime Database. */
import { get, limitToFirst, orderByKey, query, ref, remove, set, update } from 'firebase/database';
import {
  collection,
  deleteDoc,
  doc,
  query as documentQuery,
  getCount,
  getDoc,
  getDocs,
  limit,
  setDoc,
  updateDoc,
  where,
} from 'firebase/firestore/lite';
import type { Permission } from '../../functions/src/access/rules/permissions.ts';
import type { Clients } from './environment.ts';
import type { Contents } from './situations.ts';

export interface Operation {
  readonly name: string;
  readonly needs: 'reads' | 'writes';
  /** Whether the operation can return several documents. */
  readonly lists: boolean;
  /** Whether the operation requires an existing document. */
  readonly existing: boolean;
  run(clients: Clients, path: string, contents: Contents): Promise<unknown>;
}

const GET = { lists: false, name: 'get', needs: 'reads', existing: true } as const;
const LIST = { lists: true, name: 'list', needs: 'reads', existing: true } as const;
const QUERY = { lists: true, name: 'query', needs: 'reads', existing: true } as const;
const COUNT = { lists: true, name: 'count', needs: 'reads', existing: true } as const;
const CREATE = { lists: false, name: 'create', needs: 'writes', existing: false } as const;
const REPLACE = { lists: false, name: 'replace', needs: 'writes', existing: true } as const;
const MERGE = { lists: false, name: 'merge', needs: 'writes', existing: true } as const;
const UPDATE = { lists: false, name: 'update', needs: 'writes', existing: true } as const;
const DELETE = { lists: false, name: 'delete', needs: 'writes', existing: true } as const;

const inFirestore: readonly Operation[] = [
  { ...GET, run: ({ firestore }, path) => getDoc(doc(firestore, path)) },
  {
    ...LIST,
    run: ({ firestore }, path, { filter }) => getDocs(documentQuery(collection(firestore, parentOf(path)), ...filter)),
  },
  {
    ...QUERY,
    run: ({ firestore }, path, { filter }) =>
      getDocs(documentQuery(collection(firestore, parentOf(path)), ...filter, where('at', '==', 1), limit(1))),
  },
  {
    ...COUNT,
    run: ({ firestore }, path, { filter }) => getCount(documentQuery(collection(firestore, parentOf(path)), ...filter)),
  },
  { ...CREATE, run: ({ firestore }, path, { value }) => setDoc(doc(firestore, path), value) },
  { ...REPLACE, run: ({ firestore }, path, { change }) => setDoc(doc(firestore, path), change) },
  { ...MERGE, run: ({ firestore }, path, { change }) => setDoc(doc(firestore, path), change, { merge: true }) },
  { ...UPDATE, run: ({ firestore }, path, { change }) => updateDoc(doc(firestore, path), { ...change }) },
  { ...DELETE, run: ({ firestore }, path) => deleteDoc(doc(firestore, path)) },
];

const inRealtime: readonly Operation[] = [
  { ...GET, run: ({ realtime }, path) => get(ref(realtime, path)) },
  { ...LIST, run: ({ realtime }, path) => get(ref(realtime, parentOf(path))) },
  { ...QUERY, run: ({ realtime }, path) => get(query(ref(realtime, parentOf(path)), orderByKey(), limitToFirst(1))) },
  { ...CREATE, run: ({ realtime }, path, { value }) => set(ref(realtime, path), value) },
  { ...REPLACE, run: ({ realtime }, path, { change }) => set(ref(realtime, path), change) },
  { ...UPDATE, run: ({ realtime }, path, { change }) => update(ref(realtime, path), change) },
  { ...DELETE, run: ({ realtime }, path) => remove(ref(realtime, path)) },
];

export const operations = { firestore: inFirestore, realtime: inRealtime };

/** Stores a value at the path, without checks by the rules. */
export async function put(
  database: Permission['database'],
  { firestore, realtime }: Clients,
  path: string,
  { value }: Contents,
): Promise<void> {
  await (database === 'firestore' ? setDoc(doc(firestore, path), value) : set(ref(realtime, path), value));
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
