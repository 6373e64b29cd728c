/** Composes orchestration: runs, what executes them, the agents that they ask, and what the tools ask. */

import { modelSettings, runBudget } from '../config/models.ts';
import { region } from '../config.ts';
import { systemTimer } from '../kernel/platform.ts';
import type { Services } from '../mcp/callContext.ts';
import { AgentRoster } from '../toolsets/orchestration/rules/agents/selection.ts';
import type { HostedAgent } from '../toolsets/orchestration/rules/hostedAgent.ts';
import type { OrchestrationPorts, RunDispatch } from '../toolsets/orchestration/rules/ports.ts';
import { RunExecution } from '../toolsets/orchestration/rules/runs/execution.ts';
import type { RunBudget } from '../toolsets/orchestration/rules/runs/run.ts';
import { RunService } from '../toolsets/orchestration/rules/runs/runs.ts';
import { WorkflowLibrary } from '../toolsets/orchestration/rules/workflows/library.ts';
import { FirestoreAgentMeasures } from '../toolsets/orchestration/store/measures.ts';
import { FirestoreRunReader } from '../toolsets/orchestration/store/runs.ts';
import { FirestoreWorkflowReader } from '../toolsets/orchestration/store/workflows.ts';
import { Claude } from '../vendors/anthropic/claude.ts';
import { CloudTasksRunQueue } from '../vendors/cloudtasks/runQueue.ts';
import { Gemini } from '../vendors/gemini/gemini.ts';
import type { ModelSettings } from '../vendors/models.ts';
import type { Foundation } from './foundation.ts';

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
