/** The composition root: the only file that sees every layer. All is made once per instance, on first use. */
import { firebaseApp } from './adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from './adapters/admin/realtimeDatabase.ts';
import { FirebaseIdTokenVerifier } from './adapters/auth/idTokens.ts';
import { DatabasePresence } from './adapters/database/presence.ts';
import { TaskQueueMirror } from './adapters/database/taskQueueMirror.ts';
import { FirestoreAgentReader } from './adapters/firestore/agentReader.ts';
import { firestore } from './adapters/firestore/client.ts';
import { FirestoreDiscoveryReader } from './adapters/firestore/discoveryReader.ts';
import { FirestoreSessionReader } from './adapters/firestore/sessionReader.ts';
import { FirestoreSettledOperations } from './adapters/firestore/settledOperations.ts';
import { FirestoreStore } from './adapters/firestore/store.ts';
import { FirestoreTaskReader } from './adapters/firestore/taskReader.ts';
import { systemClock } from './adapters/platform/clock.ts';
import { systemHashing, systemRandomness } from './adapters/platform/cryptography.ts';
import { allowedOrigins, mountPath, publicUrl } from './config.ts';
import { CredentialAuthenticator } from './domain/agents/authentication.ts';
import { AgentLiveness } from './domain/agents/liveness.ts';
import { AgentMembership } from './domain/agents/membership.ts';
import { AgentRegistration } from './domain/agents/registration.ts';
import { CoordinationService } from './domain/coordination/service.ts';
import type { Clock } from './domain/ports.ts';
import type { Services } from './domain/services.ts';
import { Sweep } from './domain/sweep.ts';
import { TaskCreation } from './domain/tasks/creation.ts';
import { TaskQueue } from './domain/tasks/queue.ts';
import { TaskSweep } from './domain/tasks/sweep.ts';
import { cloudLog } from './logging.ts';
import { createEndpoint, type Endpoint } from './mcp/endpoint.ts';
import { toolsets } from './toolsets/index.ts';
import { VERSION } from './version.ts';

/** What is not read from the environment. Tests bind a clock of their own. */
export interface Bindings {
  readonly clock: Clock;
}

/** Builds the domain over the adapters: everything but the HTTP endpoint. */
export function compose({ clock }: Bindings) {
  const database = firestore();
  const ports = {
    agents: new FirestoreAgentReader(database),
    sessions: new FirestoreSessionReader(database),
    tasks: new FirestoreTaskReader(database, cloudLog),
    discoveries: new FirestoreDiscoveryReader(database),
    settledOperations: new FirestoreSettledOperations(database),
    store: new FirestoreStore(database, clock, systemRandomness),
    presence: new DatabasePresence(realtimeDatabase, clock),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log: cloudLog,
  };
  const liveness = new AgentLiveness(ports);
  const revive = (agentId: string): Promise<void> => liveness.revive(agentId);
  const services: Services = {
    registration: new AgentRegistration(ports),
    membership: new AgentMembership({ ...ports, revive }),
    coordination: new CoordinationService(ports),
    taskCreation: new TaskCreation(ports),
    taskQueue: new TaskQueue(ports),
  };
  const authenticator = new CredentialAuthenticator({
    credentials: ports.agents,
    idTokens: new FirebaseIdTokenVerifier(firebaseApp),
    hashing: systemHashing,
    clock,
    revive,
  });
  const sweep = new Sweep(new TaskSweep(ports), liveness, cloudLog);
  const taskQueueMirror = new TaskQueueMirror(realtimeDatabase, ports.tasks);
  return { ports, services, authenticator, sweep, taskQueueMirror };
}

export type Composition = ReturnType<typeof compose>;

/** The MCP endpoint over a composition. */
export function composeEndpoint(composition: Composition): Endpoint {
  const { ports, services, authenticator } = composition;
  return createEndpoint({
    ...ports,
    toolsets,
    services: () => services,
    authenticator,
    allowedOrigins: allowedOrigins(),
    publicUrl: publicUrl(),
    mountPath: mountPath(),
    version: VERSION,
  });
}

type Instance = Composition & { readonly endpoint: Endpoint };

let instance: Instance | undefined;

/** This instance's parts. */
export function app(): Instance {
  if (instance === undefined) {
    const composition = compose({ clock: systemClock });
    instance = { ...composition, endpoint: composeEndpoint(composition) };
  }
  return instance;
}
