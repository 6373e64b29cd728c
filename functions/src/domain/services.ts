/** What the tools can ask for, one entry an area of the domain. Built once per instance in app.ts. */
import type { AgentService } from './agents/service.ts';
import type { CoordinationService } from './coordination/service.ts';
import type { TaskQueue } from './tasks/queue.ts';

export interface Services {
  readonly agents: AgentService;
  readonly coordination: CoordinationService;
  readonly tasks: TaskQueue;
}
