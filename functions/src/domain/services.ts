/** What the tools can ask for, one entry an area of the domain. Built once per instance in app.ts. */
import type { AgentMembership } from './agents/membership.ts';
import type { AgentRegistration } from './agents/registration.ts';
import type { CoordinationService } from './coordination/service.ts';
import type { TaskCreation } from './tasks/creation.ts';
import type { TaskQueue } from './tasks/queue.ts';

export interface Services {
  readonly registration: AgentRegistration;
  readonly membership: AgentMembership;
  readonly coordination: CoordinationService;
  readonly taskCreation: TaskCreation;
  readonly taskQueue: TaskQueue;
}
