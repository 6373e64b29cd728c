/** Composes orchestration: runs, what executes them, the agents that they ask, and what the tools ask. */
import { CloudTasksRunQueue } from '../adapters/cloudtasks/runQueue.ts';
import { FirestoreAgentMeasures } from '../adapters/firestore/agentMeasures.ts';
import { FirestoreAnswerCache } from '../adapters/firestore/answerCache.ts';
import type { Firestore } from '../adapters/firestore/client.ts';
import type { DocumentReading } from '../adapters/firestore/reading.ts';
import { FirestoreRunReader } from '../adapters/firestore/runReader.ts';
import { FirestoreWorkflowReader } from '../adapters/firestore/workflowReader.ts';
import { systemRandomness } from '../adapters/platform/cryptography.ts';
import { systemTimer } from '../adapters/platform/timer.ts';
import { modelSettings, runBudget } from '../config/models.ts';
import { region } from '../config.ts';
import { AgentRoster, type RosterDependencies } from '../domain/orchestration/agents/roster.ts';
import type { HostedAgent } from '../domain/orchestration/ports.ts';
import { RunExecution } from '../domain/orchestration/runs/execution.ts';
import type { HostedAgents } from '../domain/orchestration/runs/hostedStep.ts';
import { NetworkSteps } from '../domain/orchestration/runs/networkStep.ts';
import type { RunDispatch } from '../domain/orchestration/runs/ports.ts';
import type { RunBudget } from '../domain/orchestration/runs/run.ts';
import { RunService } from '../domain/orchestration/runs/service.ts';
import { StepExecution } from '../domain/orchestration/runs/stepExecution.ts';
import type { OrchestrationServices } from '../domain/orchestration/services.ts';
import {
  WorkflowLibrary,
  type WorkflowLibraryDependencies,
} from '../domain/orchestration/workflows/library.ts';
import type { Log } from '../domain/ports.ts';
import { TaskCreation, type TaskCreationDependencies } from '../domain/tasks/creation.ts';
import { hostedAgents } from './hostedAgents.ts';

/** What tests bind in place of what the environment says. */
export interface OrchestrationBindings {
  readonly hosted?: (() => readonly HostedAgent[]) | undefined;
  /** Absent: Cloud Tasks. */
  readonly dispatch?: RunDispatch | undefined;
  /** What a run may spend of which its caller says nothing. */
  readonly budget?: RunBudget | undefined;
}

export function orchestrationPorts(
  database: Firestore,
  bindings: OrchestrationBindings,
  documents: DocumentReading,
) {
  const { hosted = deployedAgents(), dispatch, budget = runBudget() } = bindings;
  return {
    hosted,
    budget,
    workflows: new FirestoreWorkflowReader(database, documents),
    measures: new FirestoreAgentMeasures(database, documents),
    runs: new FirestoreRunReader(database, documents),
    answers: new FirestoreAnswerCache(database, documents),
    dispatch: dispatch ?? new CloudTasksRunQueue(region.value(), systemRandomness),
  };
}

/** Those that this deployment has parameters for, made on first use: their keys are known only then. */
function deployedAgents(): () => readonly HostedAgent[] {
  let agents: readonly HostedAgent[] | undefined;
  return () => {
    agents ??= hostedAgents(modelSettings());
    return agents;
  };
}

type OrchestrationPorts = ReturnType<typeof orchestrationPorts> &
  WorkflowLibraryDependencies &
  RosterDependencies &
  TaskCreationDependencies & { readonly log: Log };

const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

export function composeOrchestration(ports: OrchestrationPorts): {
  readonly services: OrchestrationServices;
  readonly execution: RunExecution;
} {
  const { hosted } = ports;
  const roster = new AgentRoster(ports);
  const agents: HostedAgents = {
    find: (name) => hosted().find((agent) => agent.name === name),
    standings: () => roster.standings(),
  };
  const network = new NetworkSteps({ ...ports, taskCreation: new TaskCreation(ports) });
  const execution = new RunExecution({
    ...ports,
    priceOf: (name) => agents.find(name)?.price ?? FREE,
    steps: new StepExecution({ ...ports, agents, network, timer: systemTimer }),
  });
  const runs = new RunService({
    ...ports,
    models: () => hosted().map(({ model }) => model),
  });
  return { services: { workflows: new WorkflowLibrary(ports), roster, runs }, execution };
}
