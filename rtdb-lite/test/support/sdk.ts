/** Wraps both real SDKs in one interface, so that each check can run with either SDK. */
import { randomUUID } from 'node:crypto';
import { deleteApp, initializeApp, setLogLevel } from 'firebase/app';
import * as client from 'firebase/database';
import { deleteApp as deleteAdminApp, initializeApp as initializeAdminApp } from 'firebase-admin/app';
import {
  type DataSnapshot as AdminSnapshot,
  getDatabase as getAdminDatabase,
  ServerValue,
} from 'firebase-admin/database';
import type { Server } from '../../src/server.ts';
import { adminQuery, type Constraint, clientQuery } from './constraints.ts';

// Hides the warnings of the SDKs about each denial and each missing index.
setLogLevel('error');

export type EventName = 'value' | 'child_added' | 'child_changed' | 'child_moved' | 'child_removed';

export interface Snapshot {
  readonly key: string | null;
  readonly exists: boolean;
  readonly value: unknown;
  /** Value of the node, including priorities. */
  readonly exported: unknown;
  readonly priority: string | number | null;
  /** Returns the children's keys in query order. Not a property: the SDKs fail if an event's child has no key. */
  keys(): (string | null)[];
}

export interface Sdk {
  set(path: string, value: unknown): Promise<unknown>;
  setWithPriority(path: string, value: unknown, priority: number): Promise<unknown>;
  setPriority(path: string, priority: number): Promise<unknown>;
  update(path: string, children: object): Promise<unknown>;
  push(path: string, value: unknown): Promise<string | null>;
  remove(path: string): Promise<unknown>;
  get(path: string, ...constraints: Constraint[]): Promise<Snapshot>;
  /** Reads through a listener, which sends a different request than `get`. */
  once(path: string, ...constraints: Constraint[]): Promise<Snapshot>;
  on(event: EventName, receive: (snapshot: Snapshot) => void, path: string, ...constraints: Constraint[]): () => void;
  /** Returns whether the transaction was committed. */
  transaction(path: string, change: (value: unknown) => unknown): Promise<boolean>;
  setOnDisconnect(path: string, value: unknown): Promise<unknown>;
  goOffline(): void;
  goOnline(): void;
  readonly timestamp: unknown;
  increment(by: number): unknown;
  close(): Promise<void>;
}

function config({ port }: Server, namespace: string): { projectId: string; databaseURL: string } {
  return { projectId: 'demo-test', databaseURL: `http://127.0.0.1:${port}/?ns=${namespace}` };
}

export function adminSdk(server: Server, namespace: string): Sdk {
  // The emulators' admin token.
  const credential = { getAccessToken: async () => ({ access_token: 'owner', expires_in: 3600 }) };
  const app = initializeAdminApp({ ...config(server, namespace), credential }, randomUUID());
  const database = getAdminDatabase(app);
  const read = (snapshot: AdminSnapshot): Snapshot => ({
    key: snapshot.key,
    exists: snapshot.exists(),
    value: snapshot.val(),
    exported: snapshot.exportVal(),
    priority: snapshot.getPriority(),
    keys() {
      const keys: (string | null)[] = [];
      snapshot.forEach((child) => void keys.push(child.key));
      return keys;
    },
  });
  const at = (path: string, constraints: Constraint[]) => adminQuery(database.ref(path), constraints);
  return {
    set: (path, value) => database.ref(path).set(value),
    setWithPriority: (path, value, priority) => database.ref(path).setWithPriority(value, priority),
    setPriority: (path, priority) => database.ref(path).setPriority(priority, () => {}),
    update: (path, children) => database.ref(path).update(children),
    push: async (path, value) => (await database.ref(path).push(value)).key,
    remove: (path) => database.ref(path).remove(),
    get: async (path, ...constraints) => read(await at(path, constraints).get()),
    once: async (path, ...constraints) => read(await at(path, constraints).once('value')),
    on(event, receive, path, ...constraints) {
      const query = at(path, constraints);
      const callback = query.on(event, (snapshot) => receive(read(snapshot)));
      return () => query.off(event, callback);
    },
    transaction: async (path, change) => (await database.ref(path).transaction(change)).committed,
    setOnDisconnect: (path, value) => database.ref(path).onDisconnect().set(value),
    goOffline: () => database.goOffline(),
    goOnline: () => database.goOnline(),
    timestamp: ServerValue.TIMESTAMP,
    increment: (by) => ServerValue.increment(by),
    close: () => deleteAdminApp(app),
  };
}

const clientListeners = {
  value: client.onValue,
  child_added: client.onChildAdded,
  child_changed: client.onChildChanged,
  child_moved: client.onChildMoved,
  child_removed: client.onChildRemoved,
};

/** `uid` is the signed-in user, if any. */
export function clientSdk(server: Server, namespace: string, uid?: string): Sdk {
  const app = initializeApp(config(server, namespace), randomUUID());
  const database = client.getDatabase(app);
  const token = uid === undefined ? {} : { mockUserToken: { sub: uid, user_id: uid } };
  client.connectDatabaseEmulator(database, '127.0.0.1', server.port, token);
  const read = (snapshot: client.DataSnapshot): Snapshot => ({
    key: snapshot.key,
    exists: snapshot.exists(),
    value: snapshot.val(),
    exported: snapshot.exportVal(),
    priority: snapshot.priority,
    keys() {
      const keys: (string | null)[] = [];
      snapshot.forEach((child) => void keys.push(child.key));
      return keys;
    },
  });
  const ref = (path: string) => client.ref(database, path);
  const at = (path: string, constraints: Constraint[]) => clientQuery(ref(path), constraints);
  return {
    set: (path, value) => client.set(ref(path), value),
    setWithPriority: (path, value, priority) => client.setWithPriority(ref(path), value, priority),
    setPriority: (path, priority) => client.setPriority(ref(path), priority),
    update: (path, children) => client.update(ref(path), children),
    push: async (path, value) => (await client.push(ref(path), value)).key,
    remove: (path) => client.remove(ref(path)),
    get: async (path, ...constraints) => read(await client.get(at(path, constraints))),
    once: (path, ...constraints) =>
      new Promise((resolve, reject) => {
        const receive = (snapshot: client.DataSnapshot) => resolve(read(snapshot));
        client.onValue(at(path, constraints), receive, reject, { onlyOnce: true });
      }),
    on: (event, receive, path, ...constraints) =>
      clientListeners[event](at(path, constraints), (snapshot: client.DataSnapshot) => receive(read(snapshot))),
    transaction: async (path, change) => (await client.runTransaction(ref(path), change)).committed,
    setOnDisconnect: (path, value) => client.onDisconnect(ref(path)).set(value),
    goOffline: () => client.goOffline(database),
    goOnline: () => client.goOnline(database),
    timestamp: client.serverTimestamp(),
    increment: (by) => client.increment(by),
    close: () => deleteApp(app),
  };
}
