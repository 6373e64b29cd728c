/** Composes the services of all features over their ports. */

import { AccountSweep } from '../access/rules/accountSweep.ts';
import { CredentialAuthenticator } from '../access/rules/authentication.ts';
import { Invitations } from '../access/rules/invitations.ts';
import { OwnerRoles } from '../access/rules/leaving.ts';
import { AgentLiveness } from '../access/rules/liveness.ts';
import { AgentRegistration } from '../access/rules/registration.ts';
import { Revocation } from '../access/rules/revocation.ts';
import { mirrorPerson, mirrorWorkspaces } from '../access/store/accessMirror.ts';
import { gitHubWebhookKey, VERSION } from '../config.ts';
import { BudgetSweep } from '../graph/rules/budgetSweep.ts';
import { unlessUnreadable } from '../kernel/ports.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { Apps } from '../signin/rules/apps.ts';
import { Clients } from '../signin/rules/clients.ts';
import { Consent } from '../signin/rules/consent.ts';
import { TokenService } from '../signin/rules/tokens.ts';
import { Connections } from '../toolsets/access/rules/connections.ts';
import { Explanations } from '../toolsets/access/rules/explanations.ts';
import { Identities } from '../toolsets/access/rules/identity.ts';
import { Inviting } from '../toolsets/access/rules/inviting.ts';
import { Members } from '../toolsets/access/rules/members.ts';
import { WorkspaceAdministration } from '../toolsets/access/rules/workspaceChanges.ts';
import { CodingChanges } from '../toolsets/coding/rules/changing.ts';
import { CodingService } from '../toolsets/coding/rules/coding.ts';
import { codingExpiry } from '../toolsets/coding/rules/ending.ts';
import { CodingRunners } from '../toolsets/coding/rules/runners.ts';
import { BudgetWaits } from '../toolsets/coordination/rules/budgetWait.ts';
import { TaskClaims } from '../toolsets/coordination/rules/claims.ts';
import { CoordinationService } from '../toolsets/coordination/rules/coordination.ts';
import { TaskCreation } from '../toolsets/coordination/rules/creation.ts';
import { TaskSweep } from '../toolsets/coordination/rules/leases.ts';
import { TaskLevers } from '../toolsets/coordination/rules/levers.ts';
import { AgentMembership } from '../toolsets/coordination/rules/membership.ts';
import { AgentMessages } from '../toolsets/coordination/rules/messages.ts';
import { SessionSpreading } from '../toolsets/coordination/rules/openSession.ts';
import { CodingLeaving } from '../toolsets/coordination/rules/ownerless.ts';
import { isUnsettled, StuckTasks } from '../toolsets/coordination/rules/stuck.ts';
import { TaskQueue } from '../toolsets/coordination/rules/taskProgress.ts';
import { TaskUpdates } from '../toolsets/coordination/rules/updating.ts';
import { mirrorQueuedTask } from '../toolsets/coordination/store/queue.ts';
import { DataService } from '../toolsets/firebase/rules/dataService.ts';
import { SubscriptionService } from '../toolsets/firebase/rules/subscriptionService.ts';
import { Deliveries } from '../toolsets/github/rules/deliveries.ts';
import { Answers } from '../toolsets/inbox/rules/answering.ts';
import { ApprovalGate } from '../toolsets/inbox/rules/approvals.ts';
import { Asking } from '../toolsets/inbox/rules/asking.ts';
import { BudgetQuestions } from '../toolsets/inbox/rules/budgetQuestions.ts';
import { RequestLeaving, waitingCallsOf } from '../toolsets/inbox/rules/endings.ts';
import { ApprovalExecution, type MakeCall } from '../toolsets/inbox/rules/execution.ts';
import { OnboardingService } from '../toolsets/onboarding/rules/onboarding.ts';
import { AgentRoster } from '../toolsets/orchestration/rules/agents/roster.ts';
import { RunExecution } from '../toolsets/orchestration/rules/runs/execution.ts';
import { RunLeaving } from '../toolsets/orchestration/rules/runs/owner.ts';
import { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import { WorkflowLibrary } from '../toolsets/orchestration/rules/workflows/library.ts';
import { AuditTrail } from '../toolsets/system/rules/audit.ts';
import { Budgets } from '../toolsets/system/rules/budgets.ts';
import { AgentOverview, findSkillsWith } from '../toolsets/system/rules/directory.ts';
import { RecentCalls } from '../toolsets/system/rules/metrics.ts';
import { SystemStatus } from '../toolsets/system/rules/status.ts';
import { TaskOverview } from '../toolsets/system/rules/taskOverview.ts';
import { Trees } from '../toolsets/system/rules/tree.ts';
import { Undoing } from '../toolsets/system/rules/undo.ts';
import { ProcessGauge } from '../toolsets/system/store/metrics.ts';
import { Delegation } from '../toolsets/todo/rules/delegation.ts';
import { audit, directDelivery, eventConsumer, notify, relayEvent } from '../toolsets/todo/rules/outbox.ts';
import { RecurringTasks } from '../toolsets/todo/rules/recurringTasks.ts';
import { ReminderService, sendReminders } from '../toolsets/todo/rules/reminders.ts';
import { repairTodo } from '../toolsets/todo/rules/repair.ts';
import { TOPICS } from '../toolsets/todo/rules/taskEvent.ts';
import { TodoService } from '../toolsets/todo/rules/todos.ts';
import { todoFromRecord } from '../toolsets/todo/store/todoDocument.ts';
import { GitHubWebhook } from '../vendors/octokit/webhook.ts';
import type { Change } from './changes.ts';
import { followBudget, followGraph } from './graph.ts';
import { composeInverses } from './inverses.ts';
import { Leaving } from './leaving.ts';
import type { composePorts } from './ports.ts';
import { Retention } from './retention.ts';

export function composeServices(ports: ReturnType<typeof composePorts>, makeCall: MakeCall) {
  const liveness = new AgentLiveness(ports);
  const registration = new AgentRegistration(ports);
  const waitingCalls = (agentIds: readonly string[]) => waitingCallsOf(ports, agentIds);
  const revocation = new Revocation({ ...ports, endings: { waitingCalls } });
  const invitations = new Invitations(ports);
  const clients = new Clients(ports);
  const apps = new Apps({ ...ports, registration });
  const taskCreation = new TaskCreation<Change>(ports);
  const messages = new AgentMessages(ports);
  const stuckTasks = new StuckTasks(ports);
  const inboxPorts = {
    ...ports,
    liveness,
    agentsMayAnswer: async (uid: string) => (await ports.notifications.preferences(uid)).agentsMayAnswer,
  };
  const budgetQuestions = new BudgetQuestions(inboxPorts);
  const askToRaise = budgetQuestions.ask;
  const ownerRoles = new OwnerRoles(ports);
  const taskClaims = new TaskClaims({ ...ports, ownerRoles, messages, askToRaise });
  const codingPorts = { ...ports, ownerRoles, liveness, taskCreation, taskClaims, messages };
  const budgetWaits = new BudgetWaits(ports);
  const runs = new RunService(ports);
  const overview = new AgentOverview(ports);
  const tasks = new TaskOverview({ ...ports, liveness });
  const consumers = {
    [TOPICS.taskEvents]: eventConsumer('audit', (event) => audit(event, ports), ports),
    [TOPICS.taskUpdates]: eventConsumer('mirror', (event) => ports.clientLists.putTaskUpdate(event), ports),
    [TOPICS.reminders]: eventConsumer('notifier', (event) => notify(ports, event), ports),
  };
  const taskQueue = new TaskQueue(ports);
  const todos = new TodoService(ports);
  const delegation = new Delegation({ ...ports, taskCreation, todoService: todos });
  const leaving = new Leaving({
    ...ports,
    ends: {
      codingTasks: new CodingLeaving(ports),
      runs: new RunLeaving(ports),
      questions: new RequestLeaving(inboxPorts),
    },
  });
  const publisher = ports.publisher ?? directDelivery(consumers);
  return {
    liveness,
    authenticator: new CredentialAuthenticator({ ...ports, liveness, invitations }),
    registration,
    revocation,

    signIn: {
      clients,
      consent: new Consent({ ...ports, invitations, apps, clients }),
      tokens: new TokenService(ports),
    },

    access: {
      identities: new Identities({ ...ports, invitations }),
      explanations: new Explanations(ports),
      members: new Members({ ...ports, openWork: (uid, workspace) => leaving.openIn(uid, workspace) }),
      inviting: new Inviting({ ...ports, invitations }),
      workspaces: new WorkspaceAdministration(ports),
      connections: new Connections({ ...ports, revocation }),
    },

    membership: new AgentMembership({ ...ports, liveness, messages }),
    messages,
    coordination: new CoordinationService(ports),
    taskCreation,
    taskClaims,
    taskQueue,
    taskLevers: new TaskLevers(ports),
    taskUpdates: new TaskUpdates(ports),
    stuckTasks,
    retention: new Retention(ports),
    taskSweep: new TaskSweep({ ...ports, coding: codingExpiry(ports.sessions) }),
    mirrorQueuedTask: (taskId: string, before?: unknown) =>
      mirrorQueuedTask(realtimeDatabase, ports.tasks, taskId, before),
    /** Tells the dependents of a task whether it can never start, where it was written so. */
    settleTask: async (taskId: string, written: unknown): Promise<void> => {
      if (isUnsettled(written)) await stuckTasks.settle(taskId);
    },
    sessionSpreading: new SessionSpreading(ports),
    leaving,
    mirrorPerson: (uid: string) => mirrorPerson(realtimeDatabase, ports.people, uid),
    mirrorWorkspaces: () => mirrorWorkspaces(realtimeDatabase, ports.people),

    system: {
      overview,
      tasks,
      trees: new Trees(ports),
      budgets: new Budgets(ports),
      findSkills: findSkillsWith(ports.skills),
      status: new SystemStatus({ ...ports, workQueue: tasks }),
      recentCalls: new RecentCalls(ports),
      audit: new AuditTrail(ports),
      undoing: new Undoing({ ...ports, ...composeInverses(ports) }),
      gauge: new ProcessGauge(),
      version: VERSION,
    },

    todos,
    delegation,
    /** A thing of the graph was written: what that brings about elsewhere. `now` is the document as it was written. */
    followGraph: (now: unknown) => followGraph({ taskQueue, delegation, runs }, now),
    accountSweep: new AccountSweep(ports),
    budgetSweep: new BudgetSweep(ports),
    /** A budget was set: what waits for it goes on. `now` is the document as it was written. */
    followBudget: (now: unknown) => followBudget({ budgetQuestions, runs, budgetWaits }, now),
    recurringTasks: new RecurringTasks(ports),
    reminders: new ReminderService(ports),
    sendReminders: () => sendReminders(ports),
    consumers,
    relayEvent: (eventId: string) => relayEvent(ports, publisher, eventId),
    /**
     * Repairs a to-do; `before` is the document as it was before it was written, where it was there. What becomes
     * readable again is written, and so is repaired again.
     */
    repairTodo: (todoId: string, before: unknown): Promise<void> =>
      unlessUnreadable(repairTodo(ports, todoId, todoFromRecord(before))),

    data: new DataService(ports),
    subscriptions: new SubscriptionService(ports),

    orchestration: {
      workflows: new WorkflowLibrary(ports),
      roster: new AgentRoster(ports, overview),
      runs,
    },
    runExecution: new RunExecution({ ...ports, ownerRoles, askToRaise }, taskCreation),

    coding: new CodingService(codingPorts),
    codingChanges: new CodingChanges(codingPorts),
    codingRunners: new CodingRunners(codingPorts),

    gitHub: ports,
    webhook: new GitHubWebhook({ secret: gitHubWebhookKey, deliveries: new Deliveries(ports) }),

    approvals: new ApprovalGate({ ...inboxPorts, budget: ports.budget }),
    inbox: { asking: new Asking(inboxPorts), answers: new Answers(inboxPorts) },
    approvedCalls: new ApprovalExecution({ ...inboxPorts, makeCall }),

    onboarding: new OnboardingService({ ...ports, registration, liveness }),
  };
}
