import type { AgentRoster } from './rules/agents/roster.ts';
import type { RunService } from './rules/runs/runService.ts';
import type { WorkflowLibrary } from './rules/workflows/library.ts';

/** What the tools ask. */
export interface OrchestrationServices {
  readonly orchestration: {
    readonly workflows: WorkflowLibrary;
    readonly roster: AgentRoster;
    readonly runs: RunService;
  };
}
