import type { Toolset } from '../../mcp/tool.ts';
import { templates } from './resources.ts';
import type { OrchestrationServices } from './rules/runs/runs.ts';
import { cancelRun } from './tools/cancel_run.ts';
import { deleteWorkflow } from './tools/delete_workflow.ts';
import { executeCode } from './tools/execute_code.ts';
import { executeTask } from './tools/execute_task.ts';
import { getCapabilities } from './tools/get_capabilities.ts';
import { getRun } from './tools/get_run.ts';
import { listAgents } from './tools/list_agents.ts';
import { listRuns } from './tools/list_runs.ts';
import { listWorkflows } from './tools/list_workflows.ts';
import { orchestrate } from './tools/orchestrate.ts';
import { orchestrateParallel } from './tools/orchestrate_parallel.ts';
import { orchestrateWorkflow } from './tools/orchestrate_workflow.ts';
import { saveWorkflow } from './tools/save_workflow.ts';

/** Work for several models. Source: spec/orchestration.md, in its order; then ours. */
export const orchestration: Toolset = {
  name: 'orchestration',
  instructions:
    'work for several models: orchestrate chooses workflow and agents itself; list_workflows and list_agents show what there is. What takes longer than a call goes on, and get_run has its result.',
  tools: [
    orchestrate,
    orchestrateWorkflow,
    orchestrateParallel,
    listWorkflows,
    listAgents,
    getCapabilities,
    executeCode,
    executeTask,
    saveWorkflow,
    deleteWorkflow,
    getRun,
    cancelRun,
    listRuns,
  ],
  resources: [],
  templates,
};

export {
  type AskOptions,
  type Availability,
  type FailureClass,
  type HostedAgent,
  type ModelAnswer,
  ModelFailure,
  type ModelFailureDetails,
  type ModelRequest,
  type Price,
  type Usage,
} from './rules/hostedAgent.ts';
export type { RunDispatch } from './rules/ports.ts';

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly orchestration: OrchestrationServices;
  }
}
