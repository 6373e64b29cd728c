/** A person who uses an MCP client, and Firebase's client SDK, to which the security rules apply. */
import { randomUUID } from 'node:crypto';
import { deleteApp, initializeApp } from 'firebase/app';
import { connectAuthEmulator, initializeAuth, inMemoryPersistence, signInWithCustomToken } from 'firebase/auth';
// The lite client has no listeners. The emulator sometimes interrupts the listeners of the full client.
import {
  collection,
  connectFirestoreEmulator,
  type DocumentData,
  doc,
  getDoc,
  getDocs,
  getFirestore,
  query,
  updateDoc,
  where,
} from 'firebase/firestore/lite';
import { getAuth } from 'firebase-admin/auth';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { type Connection, connect } from './clients.ts';
import { PROJECT } from './emulator.ts';
import { endpointUrl } from './endpoint.ts';
import { setRole } from './people.ts';

export interface Person {
  readonly uid: string;
  readonly tools: Connection;
  /** Changes fields of a document. Rejects if the security rules do not allow the change. */
  edit(path: string, changes: DocumentData): Promise<void>;
  read(path: string): Promise<DocumentData | undefined>;
  /** Returns the documents of a collection whose owner field contains the person's id. */
  own(collection: string, ownerField: string): Promise<readonly DocumentData[]>;
  leave(): Promise<void>;
}

export async function newPerson(): Promise<Person> {
  const uid = `person-${randomUUID()}`;
  const app = initializeApp({ projectId: PROJECT, apiKey: 'any' }, uid);
  const auth = initializeAuth(app, { persistence: inMemoryPersistence });
  const authHost = `http://${process.env['FIREBASE_AUTH_EMULATOR_HOST']}`;
  connectAuthEmulator(auth, authHost, { disableWarnings: true });
  await setRole(uid, 'viewer');
  const { user } = await signInWithCustomToken(auth, await getAuth(firebaseApp()).createCustomToken(uid));
  const database = getFirestore(app);
  const { hostname, port } = new URL(`http://${process.env['FIRESTORE_EMULATOR_HOST']}`);
  connectFirestoreEmulator(database, hostname, Number(port));
  const tools = await connect('client 2026-07-28', endpointUrl('/todo'), await user.getIdToken());
  return {
    uid,
    tools,
    edit: (path, changes) => updateDoc(doc(database, path), changes),
    read: async (path) => (await getDoc(doc(database, path))).data(),
    async own(name, ownerField) {
      const found = await getDocs(query(collection(database, name), where(ownerField, '==', uid)));
      return found.docs.map((document) => document.data());
    },
    async leave() {
      await tools.close();
      await deleteApp(app);
    },
  };
}
