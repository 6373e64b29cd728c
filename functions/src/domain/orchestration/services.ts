import type { AgentRoster } from './agents/roster.ts';
import type { WorkflowLibrary } from './workflows/library.ts';

/** What the orchestration tools ask. */
export interface OrchestrationServices {
  readonly library: WorkflowLibrary;
  readonly roster: AgentRoster;
}
