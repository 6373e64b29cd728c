import { budgetKey, exhaustedBudget } from '../../graph/rules/budget.ts';
import type { BudgetPorts } from '../../graph/rules/ports.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { CoordinationPorts } from '../coordination/index.ts';
import { type AgentOverview, AgentRoster } from './rules/agents/roster.ts';
import type { ExecutionPorts } from './rules/ports.ts';
import { RunExecution } from './rules/runs/execution.ts';
import { RunLostAccess } from './rules/runs/owner.ts';
import { runNodeFinder } from './rules/runs/runNode.ts';
import { RunService } from './rules/runs/runService.ts';
import { budgetReason, progressOf, unavailableAgents } from './rules/runs/visibility.ts';
import { WorkflowLibrary, WorkflowUndo } from './rules/workflows/library.ts';
import { workflowFields } from './rules/workflows/validation.ts';
import { FirestoreRunQueries } from './store/runs.ts';
import { FirestoreAgentMeasures, FirestoreWorkflowQueries, FirestoreWorkRecordQueries } from './store/workflows.ts';

type Shared = 'store' | 'timer' | 'hosted' | 'budget' | 'dispatch' | 'ownerRoles' | 'askToRaise' | 'taskCreation';

export interface OrchestrationDependencies extends DocumentSource, AgentOverview, Pick<ExecutionPorts, Shared> {
  readonly coordination: CoordinationPorts & BudgetPorts;
}

/** Creates the orchestration toolset's services and ports. */
export function createOrchestration(dependencies: OrchestrationDependencies) {
  const { database, documents, coordination, overview, ...others } = dependencies;
  const ports: ExecutionPorts = {
    ...coordination,
    ...others,
    workflowFields,
    runs: new FirestoreRunQueries(database, documents),
    workflows: new FirestoreWorkflowQueries(database, documents),
    measures: new FirestoreAgentMeasures(database, documents),
    workRecords: new FirestoreWorkRecordQueries(database, documents),
  };
  const orchestration = {
    workflows: new WorkflowLibrary(ports),
    roster: new AgentRoster({ ...ports, overview }),
    runs: new RunService(ports),
  };
  return {
    ports,
    node: runNodeFinder(ports.runs),
    inverses: { workflow: new WorkflowUndo(ports).workflow },
    /** Explains a run, without its texts. */
    explain: async (principal: Principal, id: string) => progressOf(await orchestration.runs.view(principal, id)),
    /** Returns why a new run in the workspace would not go ahead: no hosted agent, or an exhausted budget. */
    obstacles: async (workspace: string) => {
      const key = budgetKey({ kind: 'workspace', thing_id: workspace });
      const isSpent = exhaustedBudget(await ports.budgets.limited([key])) !== undefined;
      return [...unavailableAgents(ports.hosted()), ...(isSpent ? [budgetReason({ key, is_spent: true })] : [])];
    },
    runLeaving: new RunLostAccess(ports),
    services: { orchestration, runExecution: new RunExecution(ports) },
  };
}

export type OrchestrationServices = ReturnType<typeof createOrchestration>['services'];
