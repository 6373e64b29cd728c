/** What the tools can ask for, one entry an area of the domain. Built once per instance in app.ts. */
import type { AgentMembership } from './agents/membership.ts';
import type { AgentRegistration } from './agents/registration.ts';
import type { CodingChanges } from './coding/changing.ts';
import type { CodingRunners } from './coding/runners.ts';
import type { CodingService } from './coding/service.ts';
import type { CodingView } from './coding/view.ts';
import type { CoordinationService } from './coordination/service.ts';
import type { DataService } from './data/service.ts';
import type { Committing } from './github/committing.ts';
import type { Issues } from './github/issues.ts';
import type { PullRequests } from './github/pullRequests.ts';
import type { RepositoryReading } from './github/reading.ts';
import type { Workflows } from './github/workflows.ts';
import type { OnboardingService } from './onboarding/service.ts';
import type { OrchestrationServices } from './orchestration/services.ts';
import type { ReminderService } from './reminders/service.ts';
import type { SubscriptionService } from './subscriptions/service.ts';
import type { SystemServices } from './system/services.ts';
import type { TaskCreation } from './tasks/creation.ts';
import type { TaskQueue } from './tasks/queue.ts';
import type { RecurringTasks } from './todos/recurring.ts';
import type { TodoService } from './todos/service.ts';

export interface Services {
  readonly data: DataService;
  readonly subscriptions: SubscriptionService;
  readonly registration: AgentRegistration;
  readonly membership: AgentMembership;
  readonly coordination: CoordinationService;
  readonly taskCreation: TaskCreation;
  readonly taskQueue: TaskQueue;
  readonly coding: CodingService;
  readonly codingChanges: CodingChanges;
  readonly codingRunners: CodingRunners;
  readonly codingView: CodingView;
  readonly todos: TodoService;
  readonly recurringTasks: RecurringTasks;
  readonly reading: RepositoryReading;
  readonly issues: Issues;
  readonly pullRequests: PullRequests;
  readonly committing: Committing;
  readonly workflows: Workflows;
  readonly reminders: ReminderService;
  readonly onboarding: OnboardingService;
  readonly system: SystemServices;
  readonly orchestration: OrchestrationServices;
}
