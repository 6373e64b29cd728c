/** What orchestrations are read by, executed with and dispatched through. */
import type { Versioned } from '../../../kernel/commit.ts';
import type { Slice } from '../../../kernel/paging.ts';
import type { Timer } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { AgentMeasureReader } from './agents/profile.ts';
import type { HostedAgent } from './port.ts';
import type { RunBudget } from './runs/run.ts';
import type { AnswerCache, RunDispatch, RunReader } from './runs/starting.ts';
import type { SavedWorkflow } from './workflows/definition.ts';

export interface WorkflowReader {
  find(id: string): Promise<Versioned<SavedWorkflow> | undefined>;
  /** By name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>>;
}

export interface OrchestrationPorts extends CoordinationPorts {
  /** Those that this deployment has parameters for. */
  readonly hosted: () => readonly HostedAgent[];
  /** What a run may spend of which its caller says nothing. */
  readonly budget: RunBudget;
  readonly workflows: WorkflowReader;
  readonly measures: AgentMeasureReader;
  readonly runs: RunReader;
  readonly answers: AnswerCache;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}
