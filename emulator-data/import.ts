/**
 * Seeds the emulators for `npm start`: two people, to-dos of one person, agents with fixed credentials, and the
 * documents that the network specification's examples use. Refuses to change anything except emulators.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import {
  AGENT_TYPES,
  type Agent,
  countedAgent,
  DEFAULT_CONFIGURATION,
  NO_METRICS,
  skillChanges,
} from '../functions/src/agents/rules/agent.ts';
import { FirestoreAgentQueries } from '../functions/src/agents/store/agents.ts';
import { type Change, changeEffects, changeLoosening, changeWriters } from '../functions/src/composition/changes.ts';
import { CREDENTIAL_DAYS, type Credential } from '../functions/src/identity/rules/credential.ts';
import { ROLES } from '../functions/src/identity/rules/role.ts';
import { credentialToDocument } from '../functions/src/identity/store/credentials.ts';

import { firestore } from '../functions/src/kernel/firestore/client.ts';
import { credentialPath } from '../functions/src/kernel/firestore/paths.ts';
import { DocumentReading } from '../functions/src/kernel/firestore/reading.ts';
import { FirestoreStore } from '../functions/src/kernel/firestore/store.ts';
import { systemClock, systemHashing, systemRandomness } from '../functions/src/kernel/platform.ts';
import { firebaseApp } from '../functions/src/kernel/realtime/database.ts';
import { importTodos } from './todos.ts';

/** Reader of documents. If an agent's document is unreadable, the import ends with an error. */
const DOCUMENTS = new DocumentReading({ note: () => undefined, recent: async () => [] });

const agents = z.array(
  z.strictObject({
    token: z.string().optional(),
    id: z.string(),
    name: z.string().optional(),
    type: z.enum(AGENT_TYPES),
    role: z.enum(ROLES),
    capabilities: z.array(z.string()),
    maxConcurrentTasks: z.number(),
    status: z.enum(['active', 'offline']).default('offline'),
  }),
);

const people = z.array(
  z.strictObject({
    token: z.string(),
    uid: z.string(),
    email: z.email(),
    displayName: z.string(),
    /** Publicly known, and valid only in emulators. */
    password: z.string(),
    role: z.enum(ROLES),
  }),
);

const documents = z.record(z.string(), z.record(z.string(), z.unknown()));

type AgentSeed = z.output<typeof agents>[number];
type PersonSeed = z.output<typeof people>[number];
const OWNER = 'person';

/** Secret part of the credentials in this clone. It is empty in tests. */
const SECRET = process.env['MUSTER_SEED_SECRET'] ?? '';

/** Imports the seed data into the emulators. */
export async function importSeed(): Promise<void> {
  requireEmulators();
  const now = new Date();
  const batch = firestore().batch();
  for (const seed of agents.parse(await json('agents'))) {
    await importAgent(agentOf(seed, now));
    if (seed.token === undefined) continue;
    const credential = credentialOf(seed.id, now);
    batch.set(firestore().doc(credentialPath(credential.api_key)), credentialToDocument(credential));
  }
  for (const [path, data] of Object.entries(documents.parse(await json('documents'))))
    batch.set(firestore().doc(path), data);
  await batch.commit();
  await importPeople(people.parse(await json('people')));
  await importTodos(OWNER);
}

/** Returns the credentials of the seeded agents and people by name. Credentials of people expire after an hour. */
export async function seedTokens(): Promise<Record<string, string>> {
  requireEmulators();
  const named = agents.parse(await json('agents')).flatMap(({ token, id }) => (token ? [[token, bearerOf(id)]] : []));
  const signedIn = people
    .parse(await json('people'))
    .map(async ({ token, email, password }) => [token, await signIn(email, password)]);
  return z.record(z.string(), z.string()).parse(Object.fromEntries([...named, ...(await Promise.all(signedIn))]));
}

/** Returns the accounts with which a person can sign in. */
export async function seedPeople(): Promise<{ name: string; email: string; password: string }[]> {
  const seeds = people.parse(await json('people'));
  return seeds.map(({ displayName: name, email, password }) => ({ name, email, password }));
}

/** Writes the agent as tools do, so that repeated imports count the agent only once. */
async function importAgent(agent: Agent): Promise<void> {
  const store = new FirestoreStore({
    database: firestore(),
    clock: systemClock,
    randomness: systemRandomness,
    effects: changeEffects,
    loosening: changeLoosening,
    writers: changeWriters,
  });
  const known = await new FirestoreAgentQueries(firestore(), DOCUMENTS).find(agent.id);
  const change: Change = known
    ? { kind: 'replaceAgent', agent, version: known.version }
    : { kind: 'createAgent', agent };
  const skills = skillChanges(known?.value, agent);
  await store.commit([change, ...countedAgent(known?.value, agent), ...skills]);
}

function agentOf(seed: AgentSeed, now: Date): Agent {
  return {
    id: seed.id,
    name: seed.name ?? seed.id,
    type: seed.type,
    version: '1.0.0',
    capability_details: seed.capabilities.map((name) => ({ name, category: 'general' })),
    configuration: { ...DEFAULT_CONFIGURATION, max_concurrent_tasks: seed.maxConcurrentTasks },
    owner_uid: OWNER,
    role: seed.role,
    status: seed.status,
    registered_at: now,
    last_seen: now,
    ...NO_METRICS,
  };
}

/** Returns the same credential at every start, so that configured clients keep working. */
function credentialOf(agentId: string, now: Date): Credential {
  const [apiKey = '', secret = ''] = bearerOf(agentId).split('.');
  return {
    api_key: apiKey,
    agent_id: agentId,
    secret_hash: systemHashing.sha256(secret),
    created_at: now,
    expires_at: new Date(now.getTime() + CREDENTIAL_DAYS * 24 * 60 * 60 * 1000),
    ancestors: [],
  };
}

function bearerOf(agentId: string): string {
  const letters = agentId.replace(/[^a-z2-7]/g, '');
  return `mk_${letters.padEnd(20, 'a').slice(0, 20)}.only-for-the-emulators-${SECRET}${agentId}`;
}

async function importPeople(seeds: readonly PersonSeed[]): Promise<void> {
  const { getAuth } = await import('firebase-admin/auth');
  const auth = getAuth(firebaseApp());
  for (const { uid, email, displayName, password, role } of seeds) {
    const known = await auth.getUser(uid).catch(() => undefined);
    if (known === undefined) await auth.createUser({ uid, email, displayName, password, emailVerified: true });
    await auth.setCustomUserClaims(uid, { role });
  }
}

async function signIn(email: string, password: string): Promise<string> {
  const host = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
  const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=emulator`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password, returnSecureToken: true }),
  });
  return z.object({ idToken: z.string() }).parse(await response.json()).idToken;
}

function requireEmulators(): void {
  for (const variable of ['FIRESTORE_EMULATOR_HOST', 'FIREBASE_AUTH_EMULATOR_HOST'])
    if (!process.env[variable]) throw new Error(`${variable} is not set. Only emulators can be seeded.`);
}

async function json(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`${name}.json`, import.meta.url), 'utf8'));
}
