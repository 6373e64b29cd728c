/** Composes who is calling: how callers are known, limited and counted. */
import { firebaseApp } from '../adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { FirebaseIdTokenVerifier } from '../adapters/auth/idTokens.ts';
import { DatabaseLimitLedger } from '../adapters/database/limitLedger.ts';
import { DatabaseMetricsLedger } from '../adapters/database/metricsLedger.ts';
import { DatabasePresence } from '../adapters/database/presence.ts';
import { FirestoreAgentDirectory } from '../adapters/firestore/agentDirectory.ts';
import { FirestoreAgentReader } from '../adapters/firestore/agentReader.ts';
import { FirestoreSessionReader } from '../adapters/firestore/sessionReader.ts';
import { CredentialAuthenticator } from '../domain/agents/authentication.ts';
import { AgentLiveness } from '../domain/agents/liveness.ts';
import { AgentMembership } from '../domain/agents/membership.ts';
import type { AccessPorts } from '../domain/agents/ports.ts';
import { AgentRegistration } from '../domain/agents/registration.ts';
import type { RateLimit } from '../domain/limits/bucket.ts';
import { RateLimiter, UNLIMITED } from '../domain/limits/limiter.ts';
import { CallRecorder } from '../domain/metrics/recorder.ts';
import type { Foundation } from './foundation.ts';

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
    sessions: new FirestoreSessionReader(database, documents),
    presence: new DatabasePresence(realtimeDatabase, clock),
    idTokens: new FirebaseIdTokenVerifier(firebaseApp, clock),
    limits: rateLimit ? new RateLimiter(rateLimit, ledgers.limits, foundation) : UNLIMITED,
    metrics: new CallRecorder(ledgers.metrics, foundation),
  };
}

export function accessServices(ports: AccessPorts) {
  const liveness = new AgentLiveness(ports);
  const revive = (agentId: string): Promise<void> => liveness.revive(agentId);
  return {
    liveness,
    authenticator: new CredentialAuthenticator(ports, revive),
    registration: new AgentRegistration(ports),
    membership: new AgentMembership(ports, revive),
  };
}
