/** Projects and agents of the benchmarks. Each benchmark has a dedicated Firestore project in the emulator. */
import { type DocumentData, Firestore } from '@google-cloud/firestore';
import { type Agent, NO_METRICS } from '../functions/src/agents/rules/agent.ts';
import { agentToDocument } from '../functions/src/agents/store/agents.ts';
import { CREDENTIAL_DAYS } from '../functions/src/identity/rules/credential.ts';
import {
  CODE_TTL_MS,
  challengeOf,
  GRANT_LETTERS,
  grantToDocument,
  MAX_GRANT_TTL_MS,
  tokenOf,
} from '../functions/src/identity/rules/grant.ts';
import { personToDocument } from '../functions/src/identity/rules/people.ts';
import { DEFAULT_WORKSPACE } from '../functions/src/identity/rules/principal.ts';
import { credentialToDocument } from '../functions/src/identity/store/credentials.ts';
import {
  agentCountsPath,
  agentPath,
  credentialPath,
  grantPath,
  personPath,
} from '../functions/src/kernel/firestore/paths.ts';
import { systemHashing, systemRandomness } from '../functions/src/kernel/platform.ts';

export interface Caller {
  readonly agentId: string;
  readonly credential: string;
}

export interface Project {
  readonly id: string;
  readonly firestore: Firestore;
  /** Environment variables with which a function uses the project. */
  readonly env: Readonly<Record<string, string>>;
}

/** Person who owns the callers' agents. */
export const OWNER = 'person';

/** Rate limit that no caller reaches, even though each caller of a benchmark sends the calls of many real callers. */
const UNLIMITED = { RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMIT_BURST: '1000000' };

/** Rate limit above the load of one caller, so that calls are counted as in a deployment but never refused. */
const UNREACHED_LIMIT = { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '500000' };
let projects = 0;

/** Returns an empty project, also if a benchmark runs twice. */
export function newProject(name: string): Project {
  projects += 1;
  const id = `demo-muster-${name}-${process.pid}-${projects}`;
  const config = JSON.parse(process.env['FIREBASE_CONFIG'] ?? '{}');
  const env = {
    ...UNREACHED_LIMIT,
    GCLOUD_PROJECT: id,
    GOOGLE_CLOUD_PROJECT: id,
    FIREBASE_CONFIG: JSON.stringify({ ...config, projectId: id }),
    ...UNLIMITED,
  };
  return { id, firestore: new Firestore({ projectId: id }), env };
}

/** Returns the emulators' default project, which has the Realtime Database's rules. */
export function suiteProject(): Project {
  const firestore = new Firestore();
  return { id: process.env['GCLOUD_PROJECT'] ?? '', firestore, env: UNLIMITED };
}

const BATCH = 500;

/** Number of batches that are written at the same time. */
const WRITERS = 4;

/** Writes the documents with the numbers from 0 to `count` - 1, each of which `documentOf` returns with its path. */
export async function writeAll(
  firestore: Firestore,
  count: number,
  documentOf: (number: number) => readonly [path: string, data: DocumentData],
): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < count) {
      const batch = firestore.batch();
      for (const end = Math.min(next + BATCH, count); next < end; next++) {
        const [path, data] = documentOf(next);
        batch.set(firestore.doc(path), data);
      }
      await batch.commit();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/** Adds agents that never call. Half of them are active, the others offline. */
export async function addAgents({ firestore }: Project, count: number): Promise<void> {
  const now = new Date();
  await writeAll(firestore, count, (number) => {
    const status = number % 2 === 0 ? ('active' as const) : ('offline' as const);
    const agent = { ...agentOf(`agent${number}`, 'worker', now), status };
    return [agentPath(agent.id), agentToDocument(agent)];
  });
  const active = Math.ceil(count / 2);
  const counts = { total: 0, leaders: 0, active: 0, registered: count, online: active };
  await firestore.doc(`${agentCountsPath(DEFAULT_WORKSPACE)}/0`).set(counts);
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Adds agents with credentials, named `worker0`, `worker1` and so on. They can hold any number of tasks. */
export async function addCallers(
  { firestore }: Pick<Project, 'firestore'>,
  role: 'leader' | 'worker',
  count = 1,
): Promise<Caller[]> {
  const batch = firestore.batch();
  const now = new Date();
  const callers = Array.from({ length: count }, (_, number): Caller => {
    const agentId = `${role}${number}`;
    const apiKey = `mk_${`${role}${LETTERS[Math.floor(number / 26)]}${LETTERS[number % 26]}`.padEnd(20, 'a')}`;
    const secret = `only-for-the-benchmark-${agentId}`;
    const expiresAt = new Date(now.getTime() + CREDENTIAL_DAYS * 24 * 3_600_000);
    const credential = {
      api_key: apiKey,
      agent_id: agentId,
      secret_hash: systemHashing.sha256(secret),
      created_at: now,
      expires_at: expiresAt,
      ancestors: [],
    };
    batch.set(firestore.doc(agentPath(agentId)), agentToDocument(agentOf(agentId, role, now)));
    batch.set(firestore.doc(credentialPath(apiKey)), credentialToDocument(credential));
    return { agentId, credential: `${apiKey}.${secret}` };
  });
  batch.set(firestore.doc(personPath(OWNER)), personToDocument({ role: 'admin', workspaces: {} }));
  await batch.commit();
  return callers;
}

/** Adds one agent with a credential, named `worker0` or `leader0`. */
export async function addCaller(project: Pick<Project, 'firestore'>, role: 'leader' | 'worker'): Promise<Caller> {
  const [caller] = await addCallers(project, role);
  if (caller === undefined) throw new Error('Missing caller.');
  return caller;
}

/** Authorization code, with all that an app needs to redeem it for tokens. */
export interface Code {
  readonly clientId: string;
  readonly code: string;
  readonly verifier: string;
}

/** Adds the grant of an app that acts as this agent, with a code that is valid for a minute. */
export async function addGrant({ firestore }: Pick<Project, 'firestore'>, agentId: string): Promise<Code> {
  const now = new Date();
  const grantId = systemRandomness.letters(GRANT_LETTERS);
  const [secret, verifier] = [systemRandomness.secret(32), systemRandomness.secret(32)];
  const clientId = 'https://app.example/client';
  const expiresAt = new Date(now.getTime() + CODE_TTL_MS);
  const grant = {
    id: grantId,
    owner_uid: OWNER,
    agent_id: agentId,
    client_id: clientId,
    client_name: 'App',
    resource: 'https://muster.example/mcp',
    created_at: now,
    used_at: now,
    expires_at: expiresAt,
    ends_at: new Date(now.getTime() + MAX_GRANT_TTL_MS),
    salt: systemRandomness.secret(32),
    code: {
      hash: systemHashing.sha256(secret),
      challenge: challengeOf(systemHashing, verifier),
      redirect_uri: 'http://127.0.0.1/callback',
      expires_at: expiresAt,
      is_redeemed: false,
    },
    rotated: 0,
    recent_rotations: [],
    access_tokens: [],
  };
  await firestore.doc(grantPath(grantId)).set(grantToDocument(grant));
  return { clientId, code: tokenOf('code', { grantId, secret }), verifier };
}

function agentOf(id: string, role: 'leader' | 'worker', now: Date): Agent {
  return {
    id,
    name: id,
    type: 'developer',
    version: '1.0.0',
    capability_details: [],
    configuration: {
      max_concurrent_tasks: 100_000,
      timeout: 30_000,
      retry_policy: { max_retries: 3, backoff_ms: 1000 },
    },
    owner_uid: OWNER,
    role,
    status: 'active',
    registered_at: now,
    last_seen: now,
    ...NO_METRICS,
  };
}
