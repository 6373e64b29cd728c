/** The composition root: the only file that sees every layer. All is made once per instance, on first use. */

import { firebaseApp } from './adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from './adapters/admin/realtimeDatabase.ts';
import { IdentityToolkitSignIn } from './adapters/auth/agentSignIn.ts';
import { CachedCallerTokens } from './adapters/auth/callerTokens.ts';
import { FirebaseIdTokenVerifier } from './adapters/auth/idTokens.ts';
import { RealtimeAccess } from './adapters/database/asCaller/access.ts';
import { DatabaseCommitProofs } from './adapters/database/commitProofs.ts';
import { DatabaseEventLog } from './adapters/database/eventLog.ts';
import { DatabaseLimitLedger } from './adapters/database/limitLedger.ts';
import { DatabaseMetricsLedger } from './adapters/database/metricsLedger.ts';
import { DatabaseMetricsReader } from './adapters/database/metricsReader.ts';
import { DatabasePresence } from './adapters/database/presence.ts';
import { probeRealtimeDatabase } from './adapters/database/probe.ts';
import { TaskQueueMirror } from './adapters/database/taskQueueMirror.ts';
import { DatabaseUnreadable } from './adapters/database/unreadable.ts';
import { DatabaseWatcherLeases } from './adapters/database/watcherLeases.ts';
import { FirestoreAgentDirectory } from './adapters/firestore/agentDirectory.ts';
import { FirestoreAgentReader } from './adapters/firestore/agentReader.ts';
import { FirestoreArchiveReader } from './adapters/firestore/archiveReader.ts';
import { FirestoreAccess } from './adapters/firestore/asCaller/access.ts';
import { type Firestore, firestore } from './adapters/firestore/client.ts';
import { FirestoreDiscoveryReader } from './adapters/firestore/discoveryReader.ts';
import { FirestoreEventReader } from './adapters/firestore/eventReader.ts';
import { FirestoreFirstActs } from './adapters/firestore/firstActs.ts';
import { FirestorePreferenceReader } from './adapters/firestore/preferenceReader.ts';
import { probeFirestore } from './adapters/firestore/probe.ts';
import { FirestoreQueueReader } from './adapters/firestore/queueReader.ts';
import { DocumentReading } from './adapters/firestore/reading.ts';
import { FirestoreReminderReader } from './adapters/firestore/reminderReader.ts';
import { FirestoreSessionReader } from './adapters/firestore/sessionReader.ts';
import { FirestoreSettledOperations } from './adapters/firestore/settledOperations.ts';
import { FirestoreSkillReader } from './adapters/firestore/skillReader.ts';
import { FirestoreStore } from './adapters/firestore/store.ts';
import { FirestoreSubscriptionReader } from './adapters/firestore/subscriptionReader.ts';
import { FirestoreSweepRecord } from './adapters/firestore/sweepRecord.ts';
import { FirestoreTaskReader } from './adapters/firestore/taskReader.ts';
import { movableClock, systemClock } from './adapters/platform/clock.ts';
import { systemHashing, systemRandomness } from './adapters/platform/cryptography.ts';
import { changeWriters } from './composition/changeWriters.ts';
import { codingPorts, codingServices } from './composition/coding.ts';
import { composeWebhook, type GitHubBindings, gitHubPorts, gitHubServices } from './composition/gitHub.ts';
import {
  composeOrchestration,
  type OrchestrationBindings,
  orchestrationPorts,
} from './composition/orchestration.ts';
import { composePush, composeSpine, reminderServices } from './composition/spine.ts';
import { composeSystem } from './composition/system.ts';
import { composeRepair, todoPorts, todoServices } from './composition/todos.ts';
import { allowedOrigins, clockFile, mountPath, publicUrl, rateLimit, STREAMS, webApiKey } from './config.ts';
import { CredentialAuthenticator } from './domain/agents/authentication.ts';
import { AgentLiveness } from './domain/agents/liveness.ts';
import { AgentMembership } from './domain/agents/membership.ts';
import { AgentRegistration } from './domain/agents/registration.ts';
import { CoordinationService } from './domain/coordination/service.ts';
import { DataService } from './domain/data/service.ts';
import type { RateLimit } from './domain/limits/bucket.ts';
import { RateLimiter, UNLIMITED } from './domain/limits/limiter.ts';
import { CallRecorder } from './domain/metrics/recorder.ts';
import type { PushService } from './domain/notifications/ports.ts';
import { OnboardingService } from './domain/onboarding/service.ts';
import type { Clock } from './domain/ports.ts';
import type { Services } from './domain/services.ts';
import { SubscriptionService } from './domain/subscriptions/service.ts';
import { expiryPart } from './domain/sweep/part.ts';
import { Sweep } from './domain/sweep/sweep.ts';
import { TaskCreation } from './domain/tasks/creation.ts';
import { TaskQueue } from './domain/tasks/queue.ts';
import { TaskSweep } from './domain/tasks/sweep.ts';
import { cloudLog } from './logging.ts';
import { createDeliveryEndpoint } from './mcp/deliveries.ts';
import { createEndpoint, type Endpoint } from './mcp/endpoint.ts';
import { OpenStreams } from './mcp/openStreams.ts';
import { toolsets } from './toolsets/index.ts';
import { VERSION } from './version.ts';

/** How long a database may take to answer a call that runs as its caller. */
const DATABASE_PATIENCE_MILLISECONDS = 10_000;

/** Each part of a sweep ends before the next minute's. The database may be slow where it has just been connected. */
const SWEEP = { turnMilliseconds: 45_000, patienceMilliseconds: 20_000 };

/** What is not read from the environment. Tests bind a clock of their own. */
export interface Bindings extends OrchestrationBindings, GitHubBindings {
  readonly clock: Clock;
  /** Absent: the environment's. */
  readonly database?: Firestore | undefined;
  /** Absent: nobody is limited. */
  readonly rateLimit?: RateLimit | undefined;
  /** Where people's devices are told of reminders. Absent: nowhere. */
  readonly push?: PushService | undefined;
}

/** Builds the domain over the adapters: everything but the HTTP endpoint. */
export function compose(bindings: Bindings) {
  const { clock, database = firestore(), rateLimit: limit, push } = bindings;
  const ledgers = {
    limits: new DatabaseLimitLedger(realtimeDatabase, clock),
    metrics: new DatabaseMetricsLedger(realtimeDatabase, clock),
  };
  const unreadable = new DatabaseUnreadable(realtimeDatabase, clock, cloudLog);
  const documents = new DocumentReading(unreadable);
  const counting = { clock, log: cloudLog };
  const ports = {
    agents: new FirestoreAgentReader(database, documents),
    sessions: new FirestoreSessionReader(database, documents),
    archive: new FirestoreArchiveReader(database),
    tasks: new FirestoreTaskReader(database, documents),
    discoveries: new FirestoreDiscoveryReader(database, documents),
    ...todoPorts(database, documents),
    ...orchestrationPorts(database, bindings, documents),
    ...codingPorts(database, documents, cloudLog),
    ...gitHubPorts(database, bindings, documents, cloudLog),
    subscriptions: new FirestoreSubscriptionReader(database, documents),
    events: new DatabaseEventLog(realtimeDatabase, unreadable),
    leases: new DatabaseWatcherLeases(realtimeDatabase),
    directory: new FirestoreAgentDirectory(database, documents),
    queue: new FirestoreQueueReader(database, documents),
    skills: new FirestoreSkillReader(database, documents),
    firstActs: new FirestoreFirstActs(database, documents),
    unreadable,
    metricsReader: new DatabaseMetricsReader(realtimeDatabase, unreadable),
    probes: {
      firestore: () => probeFirestore(database),
      realtimeDatabase: () => probeRealtimeDatabase(realtimeDatabase),
    },
    settledOperations: new FirestoreSettledOperations(database, documents),
    taskEvents: new FirestoreEventReader(database, documents),
    reminders: new FirestoreReminderReader(database, documents),
    preferences: new FirestorePreferenceReader(database, documents),
    sweepRecord: new FirestoreSweepRecord(database, 'main', cloudLog),
    store: new FirestoreStore(database, clock, systemRandomness, changeWriters),
    presence: new DatabasePresence(realtimeDatabase, clock),
    limits: limit ? new RateLimiter(limit, { ...counting, ledger: ledgers.limits }) : UNLIMITED,
    metrics: new CallRecorder({ ...counting, ledger: ledgers.metrics }),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log: cloudLog,
  };
  const liveness = new AgentLiveness(ports);
  const revive = (agentId: string): Promise<void> => liveness.revive(agentId);
  const callerTokens = new CachedCallerTokens(new IdentityToolkitSignIn(firebaseApp, webApiKey()), clock);
  const databases = {
    firestore: new FirestoreAccess({
      tokens: callerTokens,
      clock,
      hashing: systemHashing,
      patienceMilliseconds: DATABASE_PATIENCE_MILLISECONDS,
    }),
    realtime: new RealtimeAccess({
      ...ports,
      app: firebaseApp,
      tokens: callerTokens,
      patienceMilliseconds: DATABASE_PATIENCE_MILLISECONDS,
    }),
  };
  const registration = new AgentRegistration(ports);
  const membership = new AgentMembership({ ...ports, revive });
  const taskCreation = new TaskCreation(ports);
  const taskQueue = new TaskQueue(ports);
  const system = composeSystem(ports, VERSION);
  const orchestration = composeOrchestration({ ...ports, overview: system.overview });
  const services: Services = {
    data: new DataService({ ...ports, databases }),
    subscriptions: new SubscriptionService({ ...ports, databases }),
    registration,
    membership,
    coordination: new CoordinationService(ports),
    taskCreation,
    taskQueue,
    ...codingServices({ ...ports, taskCreation, taskQueue, acting: membership }),
    ...todoServices(ports),
    ...reminderServices(ports),
    ...gitHubServices(ports),
    onboarding: new OnboardingService({ ...ports, registration }),
    system,
    orchestration: orchestration.services,
  };
  const authenticator = new CredentialAuthenticator({
    credentials: ports.agents,
    idTokens: new FirebaseIdTokenVerifier(firebaseApp, clock),
    hashing: systemHashing,
    clock,
    revive,
  });
  const spine = composeSpine(database, { ...ports, push });
  const proofs = new DatabaseCommitProofs(realtimeDatabase, clock);
  const expiring = [...Object.values(ledgers), services.subscriptions, spine.deliveries, proofs, unreadable];
  const sweep = new Sweep(
    [
      ...new TaskSweep(ports).parts,
      liveness.part,
      services.orchestration.runs.part,
      services.coordination.part,
      ...expiring.map(expiryPart),
    ],
    { ...ports, record: ports.sweepRecord, ...SWEEP },
  );
  return {
    ports,
    databases,
    services,
    repairTodo: composeRepair(ports),
    runExecution: orchestration.execution,
    authenticator,
    sweep,
    taskQueueMirror: new TaskQueueMirror(realtimeDatabase, ports.tasks),
    gitHubWebhook: createDeliveryEndpoint(composeWebhook(ports)),
    ...spine,
  };
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
    streams: STREAMS,
    openStreams: new OpenStreams(),
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
    const file = clockFile();
    const clock = file === undefined ? systemClock : movableClock(file);
    const composition = compose({ clock, rateLimit: rateLimit(), push: composePush() });
    instance = { ...composition, endpoint: composeEndpoint(composition) };
  }
  return instance;
}
