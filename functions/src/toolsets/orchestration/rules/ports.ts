/** What orchestrations are read by, executed with and dispatched through. */
import type { Timer } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import type { FirestoreAgentMeasures } from '../store/measures.ts';
import type { FirestoreRunReader } from '../store/runs.ts';
import type { FirestoreWorkflowReader } from '../store/workflows.ts';
import type { HostedAgent } from './hostedAgent.ts';
import type { RunBudget } from './runs/run.ts';

export interface RunDispatch {
  /** Has some instance execute the run soon, at least once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts {
  /** Those that this deployment has parameters for. */
  readonly hosted: () => readonly HostedAgent[];
  /** What a run may spend where its caller does not say. */
  readonly budget: RunBudget;
  readonly workflows: Pick<FirestoreWorkflowReader, keyof FirestoreWorkflowReader>;
  readonly measures: Pick<FirestoreAgentMeasures, keyof FirestoreAgentMeasures>;
  readonly runs: Pick<FirestoreRunReader, keyof FirestoreRunReader>;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}
