/** Composes all that the features read and write with, and how each change is written. */
import type { Firestore } from '@google-cloud/firestore';
import { CallRecorder } from '../access/rules/callMetrics.ts';
import { memberFields } from '../access/rules/people.ts';
import { PersonRoleReader } from '../access/rules/personRoles.ts';
import { type RateLimit, RateLimiter, UNLIMITED } from '../access/rules/rateLimiter.ts';
import { workspaceFields } from '../access/rules/workspace.ts';
import { FirestoreAccessChangeQueries } from '../access/store/accessChanges.ts';
import { followChanges } from '../access/store/accessMirror.ts';
import { FirebaseIdTokenVerifier } from '../access/store/accounts.ts';
import { FirestoreAgentDirectory } from '../access/store/agentDirectory.ts';
import { FirestoreAgentQueries } from '../access/store/agents.ts';
import { FirestoreGrantQueries } from '../access/store/grants.ts';
import { CachedCallerTokens, IdentityToolkitSignIn } from '../access/store/idTokens.ts';
import { DatabaseLimitLedger, DatabaseMetricsLedger } from '../access/store/ledgers.ts';
import { FirestorePeopleQueries } from '../access/store/people.ts';
import { DatabasePresence } from '../access/store/presence.ts';
import { FirestoreWorkspaceQueries } from '../access/store/workspaces.ts';
import {
  clientDocumentsUrl,
  consoleOrigin,
  gitHubSettings,
  hasPubSub,
  openRepositories,
  pushService,
  region,
  retention,
  runBudget,
  webApiKey,
} from '../config.ts';
import { ConsoleLinks } from '../kernel/consoleLinks.ts';
import { firestore, probeFirestore } from '../kernel/firestore/client.ts';
import { DocumentReading } from '../kernel/firestore/reading.ts';
import { FirestoreRecordedAnswerQueries, FirestoreStore } from '../kernel/firestore/store.ts';
import { cloudLog, firebaseApp, systemHashing, systemRandomness, systemTimer } from '../kernel/platform.ts';
import type { Clock, Log } from '../kernel/ports.ts';
import { probeRealtimeDatabase, realtimeDatabase } from '../kernel/realtime/database.ts';
import { DatabaseUnreadable } from '../kernel/realtime/unreadable.ts';
import type { RetentionDays } from '../kernel/sweep.ts';
import type { ClientDocuments } from '../signin/rules/clients.ts';
import { FirestoreSignInQueries } from '../signin/store/signIns.ts';
import { FirestoreTaskLogQueries } from '../toolsets/coding/store/logs.ts';
import { FirestoreCodingTaskQueries } from '../toolsets/coding/store/tasks.ts';
import { FirestoreMailboxQueries } from '../toolsets/coordination/store/mailboxes.ts';
import { FirestoreQueueQueries } from '../toolsets/coordination/store/queue.ts';
import { FirestoreSessionQueries } from '../toolsets/coordination/store/sessions.ts';
import { FirestoreAccess } from '../toolsets/firebase/firestore/access.ts';
import { RealtimeAccess } from '../toolsets/firebase/realtime/access.ts';
import { DatabaseEventLog } from '../toolsets/firebase/store/eventLog.ts';
import { FirestoreSubscriptionQueries } from '../toolsets/firebase/store/subscriptions.ts';
import { DatabaseWatcherLeases } from '../toolsets/firebase/store/watcherLeases.ts';
import { RestGitHub } from '../toolsets/github/store/gitHub.ts';
import { FirestoreRequestQueries } from '../toolsets/inbox/store/requests.ts';
import { FirestoreOnboardingFacts } from '../toolsets/onboarding/store/onboardingFacts.ts';
import type { HostedAgent } from '../toolsets/orchestration/rules/agents/model.ts';
import type { RunDispatch } from '../toolsets/orchestration/rules/ports.ts';
import type { RunOrder } from '../toolsets/orchestration/rules/runs/run.ts';
import { workflowFields } from '../toolsets/orchestration/rules/workflows/savedWorkflow.ts';
import {
  FirestoreAgentMeasures,
  FirestoreWorkflowQueries,
  FirestoreWorkRecordQueries,
} from '../toolsets/orchestration/store/workflows.ts';
import { DatabaseMetricsReader, FirestoreSweepRecord } from '../toolsets/system/store/metrics.ts';
import { FirestoreSkillQueries } from '../toolsets/system/store/skills.ts';
import { FirestoreTrailQueries } from '../toolsets/system/store/trail.ts';
import type { PushService } from '../toolsets/todo/rules/notification.ts';
import { FirestoreTaskHistory, recordArrivalIn } from '../toolsets/todo/store/events.ts';
import {
  DatabaseClientLists,
  DatabaseDeliveries,
  DatabaseDevices,
  FirestoreNotifications,
  verifiedEmail,
} from '../toolsets/todo/store/notifications.ts';
import { FirestoreRecurringTaskQueries, FirestoreReminderQueries } from '../toolsets/todo/store/reminders.ts';
import { fieldsOfTodos } from '../toolsets/todo/store/todoEffects.ts';
import { HttpsClientDocuments } from '../vendors/clientdocument/clientDocuments.ts';
import { cloudTasksRunQueue } from '../vendors/cloudtasks/runQueue.ts';
import { fcmPushService, localMessagingApp } from '../vendors/fcm/pushService.ts';
import { type GitHubSettings, OctokitClients } from '../vendors/octokit/clients.ts';
import { PubSubPublisher } from '../vendors/pubsub/publisher.ts';
import { changeEffects, changeLoosening, changeWriters, spreads } from './changes.ts';
import { composeGraph } from './graph.ts';
import { deployedAgents } from './hostedAgents.ts';
import { relayPart } from './relaying.ts';
import { repeatPart } from './repeating.ts';
import { archiveRetention, graphRetention, recordRetention } from './retention.ts';
/** What is not read from the environment. Tests bind a clock of their own. */
export interface Bindings {
  readonly clock: Clock;
  /** Where this deployment answers, for what is said outside of a request. Absent: nowhere. */
  readonly baseUrl?: string | undefined;
  /** Absent: the environment's. */
  readonly database?: Firestore | undefined;
  /** Absent: nobody is limited. */
  readonly rateLimit?: RateLimit | undefined;
  /** Where people's devices are told of reminders. Absent: nowhere. */
  readonly push?: PushService | undefined;
  /** Absent: what the environment says. */
  readonly hosted?: (() => readonly HostedAgent[]) | undefined;
  /** Absent: Cloud Tasks. */
  readonly dispatch?: RunDispatch | undefined;
  /** What a run may spend of which its caller says nothing. Absent: what the environment says. */
  readonly budget?: RunOrder['budget'] | undefined;
  /** For how many days what has ended is kept. Absent: what the environment says. */
  readonly retention?: RetentionDays | undefined;
  /** Absent: Cloud Logging. */
  readonly log?: Log | undefined;
  /** Absent: the internet. */
  readonly clientDocuments?: ClientDocuments | undefined;
  /** Absent: what the environment says. */
  readonly gitHub?: (() => GitHubSettings) | undefined;
}

/** How long a database may take to answer a call that runs as its caller. */
const DATABASE_TIMEOUT_MILLISECONDS = 10_000;

export function composePorts({
  clock,
  database = firestore(),
  log = cloudLog,
  rateLimit,
  push,
  ...bound
}: Bindings) {
  const unreadable = new DatabaseUnreadable({ database: realtimeDatabase, clock, log });
  const documents = new DocumentReading(unreadable);
  const people = new FirestorePeopleQueries(database, documents);
  const kernel = {
    store: new FirestoreStore({
      ...{ database, clock, randomness: systemRandomness, writers: changeWriters, effects: changeEffects },
      loosening: changeLoosening,
      followed: (changes) => followChanges({ database: realtimeDatabase, people, log }, changes),
    }),
    recordedAnswers: new FirestoreRecordedAnswerQueries(database, documents),
    clock,
    randomness: systemRandomness,
    hashing: systemHashing,
    log,
  };
  const ledgers = {
    limits: new DatabaseLimitLedger({ database: realtimeDatabase, clock }),
    metrics: new DatabaseMetricsLedger({ database: realtimeDatabase, clock }),
  };
  const asCaller = {
    database,
    documents,
    unreadable,
    ...kernel,
    tokens: new CachedCallerTokens({
      agents: new IdentityToolkitSignIn({ app: firebaseApp, webApiKey: webApiKey() }),
      clock,
    }),
    timeoutMilliseconds: DATABASE_TIMEOUT_MILLISECONDS,
  };
  const idTokens = new FirebaseIdTokenVerifier({ app: firebaseApp, clock });
  const broker = new PubSubPublisher();
  const days = bound.retention ?? retention();
  return {
    ...kernel,
    unreadable,
    ledgers,
    agents: new FirestoreAgentQueries(database, documents),
    accessChanges: new FirestoreAccessChangeQueries(database, documents),
    grants: new FirestoreGrantQueries(database, documents),
    signIns: new FirestoreSignInQueries(database, documents),
    clientDocuments: bound.clientDocuments ?? new HttpsClientDocuments(clientDocumentsUrl()),
    directory: new FirestoreAgentDirectory(database, documents),
    people,
    memberFields,
    workspaceFields,
    workspaces: new FirestoreWorkspaceQueries(database, documents, realtimeDatabase),
    roles: new PersonRoleReader({ people, idTokens }),
    presence: new DatabasePresence({ database: realtimeDatabase, clock }),
    idTokens,
    limits: rateLimit ? new RateLimiter(rateLimit, ledgers.limits, kernel) : UNLIMITED,
    metrics: new CallRecorder(ledgers.metrics, kernel),

    ...composeGraph(database, documents),
    queue: new FirestoreQueueQueries(database, documents),
    sessions: new FirestoreSessionQueries(database, documents, spreads),
    mailboxes: new FirestoreMailboxQueries(database, documents),

    codingTasks: new FirestoreCodingTaskQueries(database, documents, log),
    taskLogs: new FirestoreTaskLogQueries(database, documents),

    openRepositories,
    gitHub: new RestGitHub(new OctokitClients({ settings: bound.gitHub ?? gitHubSettings, log })),

    hosted: bound.hosted ?? deployedAgents(),
    budget: bound.budget ?? runBudget(),
    workflows: new FirestoreWorkflowQueries(database, documents),
    workflowFields,
    measures: new FirestoreAgentMeasures(database, documents),
    workRecords: new FirestoreWorkRecordQueries(database, documents),
    dispatch: bound.dispatch ?? cloudTasksRunQueue(region.value(), systemRandomness),
    timer: systemTimer,

    databases: {
      firestore: new FirestoreAccess(asCaller),
      realtime: new RealtimeAccess({ ...asCaller, app: firebaseApp }),
    },
    subscriptions: new FirestoreSubscriptionQueries(database, documents),
    events: new DatabaseEventLog(realtimeDatabase, unreadable),
    leases: new DatabaseWatcherLeases(realtimeDatabase),

    ...fieldsOfTodos,
    recurringTasks: new FirestoreRecurringTaskQueries(database, documents),
    taskHistory: new FirestoreTaskHistory(database, documents),
    recordArrival: recordArrivalIn(database),
    reminders: new FirestoreReminderQueries(database, documents),
    notifications: new FirestoreNotifications(database, documents),
    clientLists: new DatabaseClientLists({ database: realtimeDatabase }),
    publisher: hasPubSub() ? broker : undefined,
    deadLetters: broker,
    devices: new DatabaseDevices({ database: realtimeDatabase }),
    deliveries: new DatabaseDeliveries({ database: realtimeDatabase, clock, randomness: systemRandomness }),
    verifiedEmail: (uid: string) => verifiedEmail(firebaseApp(), uid),
    consoleLinks: new ConsoleLinks(consoleOrigin()),
    push,

    requests: new FirestoreRequestQueries(database, documents),

    onboardingFacts: new FirestoreOnboardingFacts(database, documents),
    skills: new FirestoreSkillQueries(database, documents),
    trail: new FirestoreTrailQueries(database, documents),
    metricsReader: new DatabaseMetricsReader({ database: realtimeDatabase, unreadable }),
    probes: {
      firestore: () => probeFirestore(database),
      realtimeDatabase: () => probeRealtimeDatabase(realtimeDatabase),
    },
    retention: days,
    recordRetention: [
      ...recordRetention(database, days),
      graphRetention(database, days),
      archiveRetention(database, days),
    ],
    relayPart: relayPart(database, log),
    repeatPart: repeatPart({
      ...{ database, realtime: realtimeDatabase, people, log },
      record: new FirestoreSweepRecord({ database, sweep: 'repeats', log }),
    }),
    sweepRecord: new FirestoreSweepRecord({ database, sweep: 'main', log }),
  };
}

/** Firebase's push service, or the one that a machine has. */
export function composePush(): PushService | undefined {
  const service = pushService();
  if (service === 'none') return undefined;
  return fcmPushService(
    service === 'firebase' ? async () => firebaseApp() : () => localMessagingApp(service.url),
  );
}
