/** Composes what all features stand on: the store and its writers, and who is calling. */

import type { Firestore } from '@google-cloud/firestore';
import { CredentialAuthenticator } from '../access/rules/authentication.ts';
import { CallRecorder } from '../access/rules/callMetrics.ts';
import { AgentLiveness } from '../access/rules/liveness.ts';
import type { AccessPorts } from '../access/rules/principal.ts';
import { type RateLimit, RateLimiter, UNLIMITED } from '../access/rules/rateLimiter.ts';
import { AgentRegistration } from '../access/rules/registration.ts';
import { FirestoreAgentDirectory } from '../access/store/agentDirectory.ts';
import { agentWriters, FirestoreAgentReader, skillWriters } from '../access/store/agents.ts';
import { DatabaseLimitLedger, DatabaseMetricsLedger } from '../access/store/ledgers.ts';
import { DatabasePresence } from '../access/store/presence.ts';
import { FirebaseIdTokenVerifier } from '../access/store/signIn.ts';
import type { ChangeKinds } from '../kernel/commit.ts';
import { firebaseApp } from '../kernel/firebaseApp.ts';
import { firestore } from '../kernel/firestore/client.ts';
import { DocumentReading } from '../kernel/firestore/reading.ts';
import { type ChangeWriters, FirestoreRecordedAnswers, FirestoreStore } from '../kernel/firestore/store.ts';
import { cloudLog, systemHashing, systemRandomness } from '../kernel/platform.ts';
import type { Clock } from '../kernel/ports.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { DatabaseUnreadable } from '../kernel/realtime/unreadable.ts';
import { codingWriters } from '../toolsets/coding/store/tasks.ts';
import { sessionWriters } from '../toolsets/coordination/store/documents.ts';
import { taskWriters } from '../toolsets/coordination/store/tasks.ts';
import { subscriptionWriters } from '../toolsets/firebase/store/subscriptions.ts';
import { linkWriters } from '../toolsets/github/store/pullRequests.ts';
import { runWriters } from '../toolsets/orchestration/store/runs.ts';
import { measureWriters, workflowWriters } from '../toolsets/orchestration/store/workflows.ts';
import { reminderWriters } from '../toolsets/todo/store/events.ts';
import { todoWriters } from '../toolsets/todo/store/todos.ts';

export interface FoundationBindings {
  readonly clock: Clock;
  /** Absent: the environment's. */
  readonly database?: Firestore | undefined;
}

export function composeFoundation({ clock, database = firestore() }: FoundationBindings) {
  const unreadable = new DatabaseUnreadable(realtimeDatabase, clock, cloudLog);
  const documents = new DocumentReading(unreadable);
  return {
    database,
    documents,
    unreadable,
    store: new FirestoreStore(database, clock, systemRandomness, changeWriters),
    recordedAnswers: new FirestoreRecordedAnswers(database, documents),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log: cloudLog,
  };
}

/** The ports of the kernel, and what the other ports are made of. */
export type Foundation = ReturnType<typeof composeFoundation>;

// Composes who is calling: how callers are known, limited and counted.

export interface AccessBindings {
  /** Absent: nobody is limited. */
  readonly rateLimit?: RateLimit | undefined;
}

export function accessPorts(foundation: Foundation, { rateLimit }: AccessBindings) {
  const { clock, database, documents } = foundation;
  const ledgers = {
    limits: new DatabaseLimitLedger(realtimeDatabase, clock),
    metrics: new DatabaseMetricsLedger(realtimeDatabase, clock),
  };
  return {
    ledgers,
    agents: new FirestoreAgentReader(database, documents),
    directory: new FirestoreAgentDirectory(database, documents),
    presence: new DatabasePresence(realtimeDatabase, clock),
    idTokens: new FirebaseIdTokenVerifier(firebaseApp, clock),
    limits: rateLimit ? new RateLimiter(rateLimit, ledgers.limits, foundation) : UNLIMITED,
    metrics: new CallRecorder(ledgers.metrics, foundation),
  };
}

export function accessServices(ports: AccessPorts) {
  const liveness = new AgentLiveness(ports);
  return {
    liveness,
    authenticator: new CredentialAuthenticator(ports, (agentId) => liveness.revive(agentId)),
    registration: new AgentRegistration(ports),
  };
}

// How each change is written, of all features. The compiler refuses it where a kind has no writer.

export const changeWriters: ChangeWriters<ChangeKinds> = {
  ...agentWriters,
  ...skillWriters,
  ...taskWriters,
  ...sessionWriters,
  ...codingWriters,
  ...linkWriters,
  ...subscriptionWriters,
  ...todoWriters,
  ...reminderWriters,
  ...workflowWriters,
  ...measureWriters,
  ...runWriters,
};
