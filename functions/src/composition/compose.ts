/** Composition root: creates the services of every feature, in the order of their dependencies. */
import { createAccess } from '../access/create.ts';
import { createAgents } from '../agents/create.ts';
import { consoleOrigin, gitHubWebhookKey, VERSION } from '../config.ts';
import { createGraph } from '../graph/create.ts';
import { addedCost } from '../graph/rules/graphNode.ts';
import { createIdentity } from '../identity/create.ts';
import { ConsoleLinks } from '../kernel/consoleLinks.ts';
import { DocumentReading } from '../kernel/firestore/reading.ts';
import { FirestoreRecordedResponseQueries, FirestoreStore } from '../kernel/firestore/store.ts';
import { readAsset, systemHashing, systemRandomness, systemTimer } from '../kernel/platform.ts';
import { firebaseApp, realtimeDatabase } from '../kernel/realtime/database.ts';
import { DatabaseUnreadableDocuments } from '../kernel/realtime/unreadable.ts';
import { expiryJob } from '../kernel/sweep.ts';
import { createLimits } from '../limits/create.ts';
import { ApprovedCalls } from '../mcp/approvedCalls.ts';
import { createWebhookEndpoint } from '../mcp/http/webhook.ts';
import { serveToolsets } from '../mcp/tool.ts';
import { createSignIn } from '../signin/create.ts';
import { createAccessTools } from '../toolsets/access/create.ts';
import { createCoding } from '../toolsets/coding/create.ts';
import { codingExpiry } from '../toolsets/coding/rules/ending.ts';
import { createCoordination } from '../toolsets/coordination/create.ts';
import { createFirebase } from '../toolsets/firebase/create.ts';
import { createGitHub } from '../toolsets/github/create.ts';
import { createInbox } from '../toolsets/inbox/create.ts';
import type { InboxChange } from '../toolsets/inbox/rules/ports.ts';
import { toolsets } from '../toolsets/index.ts';
import { createOnboarding } from '../toolsets/onboarding/create.ts';
import { createOrchestration } from '../toolsets/orchestration/create.ts';
import { createSystem } from '../toolsets/system/create.ts';
import { sweep } from '../toolsets/system/rules/sweeper.ts';
import { createTodo } from '../toolsets/todo/create.ts';
import { OctokitClients } from '../vendors/octokit/clients.ts';
import { GitHubWebhook } from '../vendors/octokit/webhook.ts';
import {
  type Change,
  type ChangeKinds,
  changeEffects,
  changeLoosening,
  changeWriters,
  shardCounts,
} from './changes.ts';
import type { ExternalServices } from './externalServices.ts';
import { reconciliationJob, relayJob } from './reconciliation.ts';
import { Retention, recordRetention } from './retention.ts';
import { LostAccessTriggers, onBudgetWritten, onGraphWritten } from './triggerHandlers.ts';

/**
 * Creates the services of every feature, but not the HTTP endpoint. If two features need each other, one of them gets
 * functions that are called only after both features exist.
 * @param baseUrl address of the deployment, for texts that are written outside of requests; empty if it is unknown
 */
export function compose(outer: ExternalServices, baseUrl = '') {
  const { database, log, clock } = outer;
  const realtime = realtimeDatabase;
  const unreadable = new DatabaseUnreadableDocuments({ database: realtime, clock, log });
  const documents = new DocumentReading(unreadable);
  const store: FirestoreStore<ChangeKinds> = new FirestoreStore({
    database,
    clock,
    randomness: systemRandomness,
    writers: changeWriters,
    effects: changeEffects,
    loosening: changeLoosening,
    followed: async (changes): Promise<void> => {
      const paid = changes.filter((one) => one.kind === 'replaceTask' || one.kind === 'replaceRun');
      await Promise.all([access.followed(changes), limits.callMetrics.recordCost(addedCost(paid))]);
    },
  });
  const recordedResponses = new FirestoreRecordedResponseQueries(database, documents);
  const kernel = { recordedResponses, clock, randomness: systemRandomness, hashing: systemHashing, log };
  const platform = { database, documents, store, kernel, log, realtime, app: firebaseApp, unreadable };
  const consoleLinks = new ConsoleLinks(consoleOrigin());
  const { openRepositories, budget, retention: days } = outer;

  const { ports: identity } = createIdentity(platform);
  const limits = createLimits({ ...platform, rateLimit: outer.rateLimit });
  const agents = createAgents({ ...platform, identity });
  const { liveness, registration } = agents.services;
  const access = createAccess<InboxChange>({
    ...platform,
    identity,
    liveness,
    limits: limits.ports,
    agents: agents.ports,
    webApiKey: outer.webApiKey,
    waitingCalls: (agentIds) => inbox.waitingCalls(agentIds),
  });
  const { ownerRoles, invitations } = access;
  const { revocation, authenticator } = access.services;
  const graph = createGraph({
    ...platform,
    nodes: {
      task: (...asked) => coordination.node(...asked),
      run: (...asked) => orchestration.node(...asked),
      todo: (...asked) => todo.node(...asked),
      pull_request: (...asked) => gitHub.node(...asked),
    },
  });
  const signIn = createSignIn({
    ...platform,
    access: access.ports,
    clientDocuments: outer.clientDocuments,
    invitations,
    registration,
  });
  const coordination = createCoordination<Change>({
    ...platform,
    shardCounts,
    liveness,
    ownerRoles,
    codingExpiry,
    access: access.ports,
    graph: graph.ports,
    askToRaise: (...missed) => inbox.budgetQuestions.ask(...missed),
  });
  const { membership, messages, proofs, taskClaims, taskCreation, taskQueue } = coordination.services;
  const coding = createCoding({
    ...platform,
    coordination: coordination.ports,
    liveness,
    ownerRoles,
    membership,
    messages,
    proofs,
    taskClaims,
    taskCreation,
  });
  const gitHub = createGitHub({
    ...platform,
    coordination: coordination.ports,
    clients: new OctokitClients({ settings: outer.gitHub, log }),
    openRepositories,
  });
  const firebase = createFirebase({ ...platform, access: access.ports, callerTokens: access.callerTokens });
  const orchestration = createOrchestration({
    ...platform,
    budget,
    ownerRoles,
    taskCreation,
    coordination: coordination.ports,
    timer: systemTimer,
    hosted: outer.hosted,
    dispatch: outer.dispatch,
    askToRaise: (...missed) => inbox.budgetQuestions.ask(...missed),
    overview: { live: (...asked) => system.services.system.overview.live(...asked) },
  });
  const todo = createTodo({
    ...platform,
    consoleLinks,
    taskCreation,
    access: access.ports,
    graph: graph.ports,
    tasks: coordination.ports.tasks,
    sessions: coordination.ports.sessions,
    push: outer.push,
    mailer: outer.mailer,
    publisher: outer.publisher,
    deadLetters: outer.deadLetters,
  });
  const inbox = createInbox({
    ...platform,
    liveness,
    proofs,
    budget,
    consoleLinks,
    coordination: coordination.ports,
    agentsMayAnswer: todo.agentsMayAnswer,
    runApprovedCall: (call) => approvedCalls.run(call),
  });
  const leaving = new LostAccessTriggers({
    log,
    roles: identity.roles,
    tasks: coordination.ports.tasks,
    runs: orchestration.ports.runs,
    ends: { codingTasks: coordination.codingLeaving, runs: orchestration.runLeaving, questions: inbox.requestLeaving },
  });
  const accessTools = createAccessTools({
    invitations,
    revocation,
    consoleLinks,
    openRepositories,
    hostedAgents: () => outer.hosted().map(({ name }) => name),
    access: access.ports,
    data: firebase.services.data,
    openWork: (uid, workspace) => leaving.openIn(uid, workspace),
    progress: { task: coordination.explain, run: orchestration.explain },
    obstacles: { github: gitHub.obstacles, orchestration: orchestration.obstacles },
  });
  const system = createSystem<Change>({
    ...platform,
    liveness,
    version: VERSION,
    gitHub: { ...graph.ports, ...gitHub.ports },
    inverses: {
      ...accessTools.inverses,
      ...coordination.inverses,
      ...firebase.inverses,
      ...orchestration.inverses,
      ...todo.inverses,
      ...inbox.inverses,
    },
  });
  const onboarding = createOnboarding({ ...platform, registration, liveness, access: access.ports });

  const { runs } = orchestration.services.orchestration;
  const { budgetQuestions } = inbox;
  const { budgetWaits } = coordination;
  const waiting = { budgetQuestions, budgetWaits, delegation: todo.services.delegation, runs, taskQueue };
  const services = {
    ...agents.services,
    ...access.services,
    ...graph.services,
    ...signIn.services,
    ...coordination.services,
    ...coding.services,
    ...gitHub.services,
    ...accessTools.services,
    ...firebase.services,
    ...orchestration.services,
    ...todo.services,
    ...inbox.services,
    ...system.services,
    ...onboarding.services,
    leaving,
    /** Called after a graph node has changed. `now` is the new document. */
    followGraph: (now: unknown) => onGraphWritten(waiting, now),
    /** Called after a budget has changed. `now` is the new document. */
    followBudget: (now: unknown) => onBudgetWritten(waiting, now),
  };
  const calls = {
    ...access.ports,
    ...serveToolsets(toolsets, services),
    authenticator,
    ...inbox.calls,
    keepDays: days,
    view: async (name: string) => (await readAsset(`views/${name}.html`)).toString(),
  };
  const approvedCalls = new ApprovedCalls(calls, baseUrl);

  const retention = new Retention({
    ...coordination.ports,
    store,
    retention: days,
    ledgers: limits.ledgers,
    taskLogs: coding.ports.taskLogs,
    runs: orchestration.ports.runs,
  });
  const records = recordRetention(database, days);
  const expiring = [
    ...Object.values(limits.ledgers),
    firebase.expiring.subscriptions,
    todo.deliveries,
    firebase.expiring.commitProofs,
    unreadable,
  ];
  const repeating = reconciliationJob({ ...platform, people: identity.people, record: system.repeatsRecord });
  const parts = [
    ...services.taskSweep.sweepJobs,
    ...[services.stuckTasks, proofs].map(({ sweepJob }) => sweepJob),
    liveness.sweepJob,
    services.accountSweep.sweepJob,
    services.budgetSweep.sweepJob,
    runs.sweepJob,
    services.coordination.archives.sweepJob,
    services.inbox.answers.sweepJob,
    services.approvedCalls.sweepJob,
    ...expiring.map(expiryJob),
    ...retention.sweepJobs,
    ...records,
    relayJob(database, log)(services.relayEvent),
    repeating(services),
  ];
  const webhook = new GitHubWebhook({ secret: gitHubWebhookKey, deliveries: gitHub.deliveries });
  return {
    kernel: { ...kernel, store, unreadable },
    limits,
    access,
    graph,
    signIn,
    coordination,
    coding,
    gitHub,
    firebase,
    orchestration,
    todo,
    inbox,
    system,
    budget,
    services,
    calls,
    /** The retention jobs, and the job that repeats the work of triggers. */
    retention: { parts: retention.sweepJobs, records, repeating },
    sweep: () => sweep(parts, system.ports),
    gitHubWebhook: createWebhookEndpoint(webhook),
  };
}

export type Composition = ReturnType<typeof compose>;
