/** Composes orchestration: runs, what executes them, the agents that they ask, and what the tools ask. */
import { Claude } from '../adapters/anthropic/claude.ts';
import { CloudTasksRunQueue } from '../adapters/cloudtasks/runQueue.ts';
import { FirestoreAgentMeasures } from '../adapters/firestore/agentMeasures.ts';
import { FirestoreAnswerCache } from '../adapters/firestore/answerCache.ts';
import { FirestoreRunReader } from '../adapters/firestore/runReader.ts';
import { FirestoreWorkflowReader } from '../adapters/firestore/workflowReader.ts';
import { Gemini } from '../adapters/gemini/gemini.ts';
import type { ModelSettings } from '../adapters/models/settings.ts';
import { systemTimer } from '../adapters/platform/timer.ts';
import { modelSettings, runBudget } from '../config/models.ts';
import { region } from '../config.ts';
import { AgentRoster } from '../domain/orchestration/agents/roster.ts';
import type { HostedAgent } from '../domain/orchestration/ports.ts';
import type { OrchestrationPorts } from '../domain/orchestration/runPorts.ts';
import { RunExecution } from '../domain/orchestration/runs/execution.ts';
import type { RunDispatch } from '../domain/orchestration/runs/ports.ts';
import type { RunBudget } from '../domain/orchestration/runs/run.ts';
import { RunService } from '../domain/orchestration/runs/service.ts';
import { WorkflowLibrary } from '../domain/orchestration/workflows/library.ts';
import type { Services } from '../domain/services.ts';
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
    answers: new FirestoreAnswerCache(database, documents),
    dispatch: dispatch ?? new CloudTasksRunQueue(region.value(), randomness),
    timer: systemTimer,
  };
}

export interface HostedAgentSettings {
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
