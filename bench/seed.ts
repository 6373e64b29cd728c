/** Agents that call in the benchmarks. Each benchmark has a Firestore project of its own in the emulator. */
import { Firestore } from '@google-cloud/firestore';
import { agentToDocument, credentialToDocument } from '../functions/src/adapters/firestore/agentDocument.ts';
import { agentPath, credentialPath } from '../functions/src/adapters/firestore/paths.ts';
import { systemHashing } from '../functions/src/adapters/platform/cryptography.ts';
import type { Agent } from '../functions/src/domain/agents/agent.ts';
import { CREDENTIAL_DAYS } from '../functions/src/domain/agents/credential.ts';

export interface Caller {
  readonly agentId: string;
  readonly credential: string;
}

export interface Project {
  readonly id: string;
  readonly firestore: Firestore;
  /** What makes a function work in it. */
  readonly env: Readonly<Record<string, string>>;
}

/** A new, empty project. */
export function newProject(name: string): Project {
  const id = `demo-muster-${name}-${process.pid}`;
  const config = JSON.parse(process.env['FIREBASE_CONFIG'] ?? '{}');
  const env = {
    GCLOUD_PROJECT: id,
    GOOGLE_CLOUD_PROJECT: id,
    FIREBASE_CONFIG: JSON.stringify({ ...config, projectId: id }),
  };
  return { id, firestore: new Firestore({ projectId: id }), env };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Adds agents to the project, `worker0` and so on, who may hold as many tasks at once as they like. */
export async function addCallers(
  { firestore }: Project,
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
      apiKey,
      agentId,
      secretHash: systemHashing.sha256(secret),
      createdAt: now,
      expiresAt,
    };
    batch.set(firestore.doc(agentPath(agentId)), agentToDocument(agentOf(agentId, role, now)));
    batch.set(firestore.doc(credentialPath(apiKey)), credentialToDocument(credential));
    return { agentId, credential: `${apiKey}.${secret}` };
  });
  await batch.commit();
  return callers;
}

function agentOf(id: string, role: 'leader' | 'worker', now: Date): Agent {
  return {
    id,
    name: id,
    type: 'developer',
    version: '1.0.0',
    capabilities: [],
    configuration: {
      maxConcurrentTasks: 100_000,
      timeout: 30_000,
      retryPolicy: { maxRetries: 3, backoffMs: 1000 },
    },
    ownerUid: 'person',
    role,
    status: 'active',
    registeredAt: now,
    lastSeen: now,
    held: {},
    tasksCompleted: 0,
    tasksFailed: 0,
  };
}
