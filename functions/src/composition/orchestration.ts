/** Composes orchestration: the agents that are asked, and what the orchestration tools ask. */
import { Claude } from '../adapters/anthropic/claude.ts';
import { FirestoreAgentMeasures } from '../adapters/firestore/agentMeasures.ts';
import { firestore } from '../adapters/firestore/client.ts';
import { FirestoreWorkflowReader } from '../adapters/firestore/workflowReader.ts';
import { Gemini } from '../adapters/gemini/gemini.ts';
import { modelSettings } from '../config.ts';
import { AgentRoster, type RosterDependencies } from '../domain/orchestration/agents/roster.ts';
import type { HostedAgent } from '../domain/orchestration/ports.ts';
import type { OrchestrationServices } from '../domain/orchestration/services.ts';
import {
  WorkflowLibrary,
  type WorkflowLibraryDependencies,
} from '../domain/orchestration/workflows/library.ts';

/** Those that this deployment has parameters for, made on first use: their keys are known only then. */
export function hostedAgents(): () => readonly HostedAgent[] {
  let agents: readonly HostedAgent[] | undefined;
  return () => {
    if (agents === undefined) {
      const { claude, gemini } = modelSettings();
      agents = [new Claude(claude), new Gemini(gemini)];
    }
    return agents;
  };
}

export function orchestrationPorts() {
  const database = firestore();
  return {
    workflows: new FirestoreWorkflowReader(database),
    measures: new FirestoreAgentMeasures(database),
  };
}

export function composeOrchestration(
  ports: WorkflowLibraryDependencies & RosterDependencies,
): OrchestrationServices {
  return { library: new WorkflowLibrary(ports), roster: new AgentRoster(ports) };
}
