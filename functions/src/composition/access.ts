/** Composes who is calling: how callers are known, limited and counted. */
import { CredentialAuthenticator } from '../access/rules/authentication.ts';
import type { RateLimit } from '../access/rules/bucket.ts';
import { CallRecorder } from '../access/rules/callMetrics.ts';
import { AgentLiveness } from '../access/rules/liveness.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import { RateLimiter, UNLIMITED } from '../access/rules/rateLimiter.ts';
import { AgentRegistration } from '../access/rules/registration.ts';
import { FirestoreAgentDirectory } from '../access/store/agentDirectory.ts';
import { FirestoreAgentReader } from '../access/store/agents.ts';
import { DatabaseLimitLedger, DatabaseMetricsLedger } from '../access/store/ledgers.ts';
import { DatabasePresence } from '../access/store/presence.ts';
import { FirebaseIdTokenVerifier } from '../access/store/signIn.ts';
import { firebaseApp } from '../kernel/firebaseApp.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
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
