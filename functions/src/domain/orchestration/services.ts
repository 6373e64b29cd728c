import type { AgentRoster } from './agents/roster.ts';
import type { RunService } from './runs/service.ts';
import type { WorkflowLibrary } from './workflows/library.ts';

/** What the orchestration tools ask. */
export interface OrchestrationServices {
  readonly workflows: WorkflowLibrary;
  readonly roster: AgentRoster;
  readonly runs: RunService;
}
