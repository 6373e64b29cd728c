import type { Toolset } from '../../mcp/tool.ts';
import { cancelRun } from './cancel_run.ts';
import { deleteWorkflow } from './delete_workflow.ts';
import { executeCode } from './execute_code.ts';
import { executeTask } from './execute_task.ts';
import { getCapabilities } from './get_capabilities.ts';
import { getRun } from './get_run.ts';
import { listAgents } from './list_agents.ts';
import { listRuns } from './list_runs.ts';
import { listWorkflows } from './list_workflows.ts';
import { orchestrate } from './orchestrate.ts';
import { orchestrateParallel } from './orchestrate_parallel.ts';
import { orchestrateWorkflow } from './orchestrate_workflow.ts';
import { templates } from './resources.ts';
import { saveWorkflow } from './save_workflow.ts';

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
