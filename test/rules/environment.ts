/** Both databases with the committed rules, in a project that only this suite uses. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { initializeTestEnvironment } from '@firebase/rules-unit-testing';
import { deleteApp, type FirebaseApp, initializeApp, setLogLevel } from 'firebase/app';
import { connectDatabaseEmulator, type Database, getDatabase, ref, set } from 'firebase/database';
// The lite client reads with separate requests. The full client reads by listening. If several clients listen
// concurrently, the emulator sometimes interrupts them ("Received message larger than max") for a minute.
import { connectFirestoreEmulator, doc, type Firestore, getFirestore, setDoc } from 'firebase/firestore/lite';
import { mirrorOf } from '../../functions/src/access/store/accessMirror.ts';
import { accessToDocument, personToDocument } from '../../functions/src/identity/rules/people.ts';
import { personPath, WORKSPACE_ACCESS_PATH } from '../../functions/src/kernel/firestore/paths.ts';
import { ACCESS_WORKSPACES, personAccessPath } from '../../functions/src/kernel/realtime/database.ts';
import { type Caller, callers } from './callers.ts';
import { ACCESS } from './fixture.ts';

/** Unique per test process, because a test starts by deleting all data in the databases of its project. */
export const PROJECT = `demo-muster-rules-${process.pid}`;

/** The emulators do not apply the rules to requests with this token in place of an ID token. */
const OWNER = 'owner';

/** One client per database, both with the token of one caller. */
export interface Clients {
  readonly firestore: Firestore;
  readonly realtime: Database;
}

export interface Environment {
  as(caller: Caller): Clients;
  /** Clients to which the rules do not apply, as they do not apply to the server. */
  readonly unbound: Clients;
  close(): Promise<void>;
}

/** Provides an environment for the tests of the `describe` block that calls this function. */
export function useEnvironment(): Environment {
  let opened: Environment | undefined;
  const environment = (): Environment => {
    if (opened === undefined) throw new Error('the environment is open only while tests run');
    return opened;
  };
  before(async () => {
    opened = await openEnvironment();
  });
  after(() => environment().close());
  return {
    as: (caller) => environment().as(caller),
    get unbound() {
      return environment().unbound;
    },
    close: () => environment().close(),
  };
}

async function openEnvironment(): Promise<Environment> {
  setLogLevel('silent'); // Prevents a warning about each denial in the log. Most tests expect denials.
  delete process.env.FIREBASE_EMULATOR_HUB; // The emulator hub does not list rtdb-lite. The code below states the addresses.
  const loaded = await initializeTestEnvironment({
    projectId: PROJECT,
    firestore: { ...address('FIRESTORE_EMULATOR_HOST'), rules: rulesFile('firestore.rules') },
    database: { ...address('FIREBASE_DATABASE_EMULATOR_HOST'), rules: rulesFile('database.rules.json') },
  });
  await Promise.all([loaded.clearFirestore(), loaded.clearDatabase()]);
  const apps: FirebaseApp[] = [];
  const connect = (name: string, token?: Token): Clients => {
    const app = initializeApp({ projectId: PROJECT }, `${name} ${randomUUID()}`);
    apps.push(app);
    return connectTo(app, token);
  };
  const clients = new Map(callers.map((caller) => [caller.name, connect(caller.name, tokenOf(caller))]));
  const unbound = connect(OWNER, OWNER);
  await settle(unbound);
  return {
    as(caller) {
      const found = clients.get(caller.name);
      if (found === undefined) throw new Error(`caller has no clients: ${caller.name}`);
      return found;
    },
    unbound,
    async close() {
      await Promise.all([loaded.cleanup(), ...apps.map((app) => deleteApp(app))]);
    },
  };
}

/** Stores the workspaces and people that the rules read, in Firestore and in the Realtime Database mirror. */
async function settle({ firestore, realtime }: Clients): Promise<void> {
  await Promise.all([
    setDoc(doc(firestore, WORKSPACE_ACCESS_PATH), accessToDocument({ access: ACCESS, asking: {} })),
    set(ref(realtime, ACCESS_WORKSPACES), ACCESS),
    ...callers.flatMap(({ stored }) =>
      stored?.person === undefined
        ? []
        : [
            setDoc(doc(firestore, personPath(stored.uid)), personToDocument(stored.person)),
            set(ref(realtime, personAccessPath(stored.uid)), mirrorOf(stored.person)),
          ],
    ),
  ]);
}

type Token = string | { readonly sub: string };

function tokenOf({ uid, claims }: Caller): Token | undefined {
  return uid === undefined ? undefined : { ...claims, sub: uid };
}

function connectTo(app: FirebaseApp, token: Token | undefined): Clients {
  const options = token === undefined ? {} : { mockUserToken: token };
  const inFirestore = address('FIRESTORE_EMULATOR_HOST');
  const firestore = getFirestore(app);
  connectFirestoreEmulator(firestore, inFirestore.host, inFirestore.port, options);
  const inRealtime = address('FIREBASE_DATABASE_EMULATOR_HOST');
  const realtime = getDatabase(app, `http://${inRealtime.host}:${inRealtime.port}/?ns=${PROJECT}`);
  connectDatabaseEmulator(realtime, inRealtime.host, inRealtime.port, options);
  return { firestore, realtime };
}

function address(variable: string): { host: string; port: number } {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set: run these tests with \`npm test -- rules\`.`);
  const { hostname, port } = new URL(`http://${value}`);
  return { host: hostname, port: Number(port) };
}

function rulesFile(name: string): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
}
