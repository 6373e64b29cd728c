/** Composes the ports and services of coordination, coding, GitHub, data, onboarding, system and orchestration. */
import type { AgentLiveness } from '../access/rules/liveness.ts';
import { CachedCallerTokens, IdentityToolkitSignIn } from '../access/store/signIn.ts';
import {
  gitHubSettings,
  gitHubWebhookKey,
  modelSettings,
  region,
  runBudget,
  VERSION,
  webApiKey,
} from '../config.ts';
import { firebaseApp } from '../kernel/firebaseApp.ts';
import { probeFirestore } from '../kernel/firestore/client.ts';
import { systemTimer } from '../kernel/platform.ts';
import { probeRealtimeDatabase, realtimeDatabase } from '../kernel/realtime/database.ts';
import type { Services } from '../mcp/callContext.ts';
import { CodingChanges, codingExpiry } from '../toolsets/coding/rules/changing.ts';
import { CodingService } from '../toolsets/coding/rules/coding.ts';
import { CodingRunners } from '../toolsets/coding/rules/runners.ts';
import type { CodingPorts } from '../toolsets/coding/rules/task.ts';
import { CodingView } from '../toolsets/coding/rules/view.ts';
import { FirestoreTaskLogReader } from '../toolsets/coding/store/logs.ts';
import { FirestoreCodingTaskReader, FirestoreCodingWatch } from '../toolsets/coding/store/tasks.ts';
import { TaskClaims } from '../toolsets/coordination/rules/claims.ts';
import { CoordinationService } from '../toolsets/coordination/rules/coordination.ts';
import { TaskCreation } from '../toolsets/coordination/rules/creation.ts';
import { TaskSweep } from '../toolsets/coordination/rules/leases.ts';
import { AgentMembership } from '../toolsets/coordination/rules/membership.ts';
import { TaskQueue } from '../toolsets/coordination/rules/queue.ts';
import { ArchiveClearing, type CoordinationPorts } from '../toolsets/coordination/rules/session.ts';
import { FirestoreQueueReader, TaskQueueMirror } from '../toolsets/coordination/store/queue.ts';
import {
  FirestoreArchiveReader,
  FirestoreDiscoveryReader,
  FirestoreSessionReader,
} from '../toolsets/coordination/store/sessions.ts';
import { FirestoreTaskReader } from '../toolsets/coordination/store/tasks.ts';
import { FirestoreAccess } from '../toolsets/firebase/firestore/access.ts';
import { RealtimeAccess } from '../toolsets/firebase/realtime/access.ts';
import { DataService } from '../toolsets/firebase/rules/data.ts';
import type { FirebasePorts } from '../toolsets/firebase/rules/subscription.ts';
import { SubscriptionService } from '../toolsets/firebase/rules/subscriptions.ts';
import { DatabaseEventLog } from '../toolsets/firebase/store/eventLog.ts';
import { FirestoreSubscriptionReader } from '../toolsets/firebase/store/subscriptions.ts';
import { DatabaseWatcherLeases } from '../toolsets/firebase/store/watcherLeases.ts';
import { Issues } from '../toolsets/github/rules/branches.ts';
import { Committing } from '../toolsets/github/rules/committing.ts';
import type { GitHubPorts } from '../toolsets/github/rules/port.ts';
import { Deliveries, PullRequests } from '../toolsets/github/rules/pullRequests.ts';
import { RepositoryReading } from '../toolsets/github/rules/reading.ts';
import { Workflows } from '../toolsets/github/rules/workflows.ts';
import { FirestorePullRequestLinks } from '../toolsets/github/store/pullRequests.ts';
import { type OnboardingPorts, OnboardingService } from '../toolsets/onboarding/rules/onboarding.ts';
import { FirestoreOnboardingFacts } from '../toolsets/onboarding/store/onboardingFacts.ts';
import { AgentRoster } from '../toolsets/orchestration/rules/agents/selection.ts';
import type { HostedAgent, OrchestrationPorts, RunDispatch } from '../toolsets/orchestration/rules/ports.ts';
import { RunExecution } from '../toolsets/orchestration/rules/runs/execution.ts';
import type { RunBudget } from '../toolsets/orchestration/rules/runs/run.ts';
import { RunService } from '../toolsets/orchestration/rules/runs/runs.ts';
import { WorkflowLibrary } from '../toolsets/orchestration/rules/workflows/library.ts';
import { FirestoreRunReader } from '../toolsets/orchestration/store/runs.ts';
import {
  FirestoreAgentMeasures,
  FirestoreWorkflowReader,
} from '../toolsets/orchestration/store/workflows.ts';
import { AgentOverview, findSkillsWith } from '../toolsets/system/rules/directory.ts';
import { RecentCalls, type SystemPorts } from '../toolsets/system/rules/metrics.ts';
import { TaskOverview } from '../toolsets/system/rules/queue.ts';
import { SystemStatus } from '../toolsets/system/rules/status.ts';
import {
  DatabaseMetricsReader,
  FirestoreSweepRecord,
  ProcessGauge,
} from '../toolsets/system/store/metrics.ts';
import { FirestoreSkillReader } from '../toolsets/system/store/skills.ts';
import { Claude } from '../vendors/anthropic/claude.ts';
import { CloudTasksRunQueue } from '../vendors/cloudtasks/runQueue.ts';
import { Gemini } from '../vendors/gemini/gemini.ts';
import type { ModelSettings } from '../vendors/models.ts';
import { GitHubClients, type GitHubSettings } from '../vendors/octokit/clients.ts';
import { RestGitHub } from '../vendors/octokit/gitHub.ts';
import { GitHubWebhook } from '../vendors/octokit/webhook.ts';
import type { Foundation } from './foundation.ts';

export function coordinationPorts({ database, documents }: Foundation) {
  return {
    tasks: new FirestoreTaskReader(database, documents),
    queue: new FirestoreQueueReader(database, documents),
    sessions: new FirestoreSessionReader(database, documents),
    archive: new FirestoreArchiveReader(database),
    discoveries: new FirestoreDiscoveryReader(database, documents),
  };
}

export function coordinationServices(ports: CoordinationPorts, liveness: AgentLiveness) {
  const archiveClearing = new ArchiveClearing(ports);
  return {
    archiveClearing,
    membership: new AgentMembership(ports, (agentId) => liveness.revive(agentId)),
    coordination: new CoordinationService(ports, archiveClearing),
    taskCreation: new TaskCreation(ports),
    taskClaims: new TaskClaims(ports),
    taskQueue: new TaskQueue(ports),
    taskSweep: new TaskSweep(ports, codingExpiry(ports.sessions)),
    taskQueueMirror: new TaskQueueMirror(realtimeDatabase, ports.tasks),
  };
}

// Composes coding tasks: what they are read by and watched with, and the services over that.

export function codingPorts({ database, documents, log }: Foundation) {
  return {
    codingTasks: new FirestoreCodingTaskReader(database, documents),
    taskLogs: new FirestoreTaskLogReader(database, documents),
    codingWatch: new FirestoreCodingWatch(database, documents, log),
  };
}

export function codingServices(
  ports: CodingPorts,
  { membership, taskCreation, taskClaims }: Pick<Services, 'membership' | 'taskCreation' | 'taskClaims'>,
) {
  return {
    coding: new CodingService(ports, taskCreation),
    codingChanges: new CodingChanges(ports, membership),
    codingRunners: new CodingRunners(ports, taskClaims, membership),
    codingView: new CodingView(ports),
  };
}

// Composes GitHub: how it is reached, the services over that, and what its webhook tells.

export interface GitHubBindings {
  /** Absent: what the environment says. */
  readonly gitHub?: (() => GitHubSettings) | undefined;
}

export function gitHubPorts(
  { database, documents, log }: Foundation,
  { gitHub = gitHubSettings }: GitHubBindings,
) {
  return {
    pullRequestLinks: new FirestorePullRequestLinks(database, documents),
    gitHub: new RestGitHub(new GitHubClients(gitHub, log)),
  };
}

export function gitHubServices(ports: GitHubPorts) {
  return {
    reading: new RepositoryReading(ports.gitHub),
    issues: new Issues(ports),
    pullRequests: new PullRequests(ports),
    committing: new Committing(ports),
    workflows: new Workflows(ports.gitHub),
    webhook: new GitHubWebhook(gitHubWebhookKey, new Deliveries(ports)),
  };
}

// Composes how callers read, write and follow their own data.

/** How long a database may take to answer a call that runs as its caller. */
const DATABASE_TIMEOUT_MILLISECONDS = 10_000;

export function firebasePorts(foundation: Foundation) {
  const { clock, database, documents, unreadable } = foundation;
  const access = {
    ...foundation,
    tokens: new CachedCallerTokens(new IdentityToolkitSignIn(firebaseApp, webApiKey()), clock),
    timeoutMilliseconds: DATABASE_TIMEOUT_MILLISECONDS,
  };
  return {
    databases: {
      firestore: new FirestoreAccess(access),
      realtime: new RealtimeAccess({ ...access, app: firebaseApp }),
    },
    subscriptions: new FirestoreSubscriptionReader(database, documents),
    events: new DatabaseEventLog(realtimeDatabase, unreadable),
    leases: new DatabaseWatcherLeases(realtimeDatabase),
  };
}

export function firebaseServices(ports: FirebasePorts) {
  return { data: new DataService(ports), subscriptions: new SubscriptionService(ports) };
}

// Composes what newcomers are told, and what the system tools ask.

export function onboardingPorts({ database, documents }: Foundation) {
  return { onboardingFacts: new FirestoreOnboardingFacts(database, documents) };
}

export function onboardingServices(ports: OnboardingPorts, { registration }: Pick<Services, 'registration'>) {
  return { onboarding: new OnboardingService(ports, registration) };
}

export function systemPorts({ database, documents, unreadable, log }: Foundation) {
  return {
    skills: new FirestoreSkillReader(database, documents),
    metricsReader: new DatabaseMetricsReader(realtimeDatabase, unreadable),
    probes: {
      firestore: () => probeFirestore(database),
      realtimeDatabase: () => probeRealtimeDatabase(realtimeDatabase),
    },
    sweepRecord: new FirestoreSweepRecord(database, 'main', log),
  };
}

export function systemServices(ports: SystemPorts) {
  const tasks = new TaskOverview(ports);
  return {
    system: {
      overview: new AgentOverview(ports),
      tasks,
      findSkills: findSkillsWith(ports.skills),
      status: new SystemStatus(ports, tasks),
      recentCalls: new RecentCalls(ports),
      gauge: new ProcessGauge(),
      version: VERSION,
    },
  };
}

// Composes orchestration: runs, what executes them, the agents that they ask, and what the tools ask.

/** What tests bind in place of what the environment says. */
export interface OrchestrationBindings {
  readonly hosted?: (() => readonly HostedAgent[]) | undefined;
  /** Absent: Cloud Tasks. */
  readonly dispatch?: RunDispatch | undefined;
  /** What a run may spend of which its caller says nothing. */
  readonly budget?: RunBudget | undefined;
}

export function orchestrationPorts(
  { database, documents, randomness }: Foundation,
  { hosted = deployedAgents(), dispatch, budget = runBudget() }: OrchestrationBindings,
) {
  return {
    hosted,
    budget,
    workflows: new FirestoreWorkflowReader(database, documents),
    measures: new FirestoreAgentMeasures(database, documents),
    runs: new FirestoreRunReader(database, documents),
    dispatch: dispatch ?? new CloudTasksRunQueue(region.value(), randomness),
    timer: systemTimer,
  };
}

interface HostedAgentSettings {
  readonly claude: ModelSettings;
  readonly gemini: ModelSettings;
}

export function hostedAgents({ claude, gemini }: HostedAgentSettings): readonly HostedAgent[] {
  return [new Claude(claude), new Gemini(gemini)];
}

/** Those that this deployment has parameters for, made on first use: their keys are known only then. */
function deployedAgents(): () => readonly HostedAgent[] {
  let agents: readonly HostedAgent[] | undefined;
  return () => {
    agents ??= hostedAgents(modelSettings());
    return agents;
  };
}

export function orchestrationServices(
  ports: OrchestrationPorts,
  { taskCreation, system }: Pick<Services, 'taskCreation' | 'system'>,
) {
  return {
    orchestration: {
      workflows: new WorkflowLibrary(ports),
      roster: new AgentRoster(ports, system.overview),
      runs: new RunService(ports),
    },
    runExecution: new RunExecution(ports, taskCreation),
  };
}
