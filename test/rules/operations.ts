/** What a client can do to a document or child, in each database's own words. */
import { get, ref, remove, set, update } from 'firebase/database';
import { collection, deleteDoc, doc, getDoc, getDocs, setDoc, updateDoc } from 'firebase/firestore/lite';
import type { Collection } from './collections.ts';
import type { Clients } from './environment.ts';

export interface Operation {
  readonly name: string;
  readonly needs: 'reads' | 'writes';
  /** Whether it is done to something that must be there before. */
  readonly existing: boolean;
  run(clients: Clients, path: string): Promise<unknown>;
}

const VALUE = { text: 'hello', at: 1 };

const CHANGE = { text: 'hello again' };

const GET = { name: 'get', needs: 'reads', existing: true } as const;
const LIST = { name: 'list', needs: 'reads', existing: true } as const;
const CREATE = { name: 'create', needs: 'writes', existing: false } as const;
const UPDATE = { name: 'update', needs: 'writes', existing: true } as const;
const DELETE = { name: 'delete', needs: 'writes', existing: true } as const;

const inFirestore: readonly Operation[] = [
  { ...GET, run: ({ firestore }, path) => getDoc(doc(firestore, path)) },
  { ...LIST, run: ({ firestore }, path) => getDocs(collection(firestore, parentOf(path))) },
  { ...CREATE, run: ({ firestore }, path) => setDoc(doc(firestore, path), VALUE) },
  { ...UPDATE, run: ({ firestore }, path) => updateDoc(doc(firestore, path), CHANGE) },
  { ...DELETE, run: ({ firestore }, path) => deleteDoc(doc(firestore, path)) },
];

const inRealtime: readonly Operation[] = [
  { ...GET, run: ({ realtime }, path) => get(ref(realtime, path)) },
  { ...LIST, run: ({ realtime }, path) => get(ref(realtime, parentOf(path))) },
  { ...CREATE, run: ({ realtime }, path) => set(ref(realtime, path), VALUE) },
  { ...UPDATE, run: ({ realtime }, path) => update(ref(realtime, path), CHANGE) },
  { ...DELETE, run: ({ realtime }, path) => remove(ref(realtime, path)) },
];

export const operations = { firestore: inFirestore, realtime: inRealtime };

/** Puts something at the path, past the rules. */
export async function put(
  database: Collection['database'],
  { firestore, realtime }: Clients,
  path: string,
): Promise<void> {
  await (database === 'firestore' ? setDoc(doc(firestore, path), VALUE) : set(ref(realtime, path), VALUE));
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
