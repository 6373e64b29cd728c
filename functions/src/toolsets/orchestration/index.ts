import { z } from 'zod';
import { templatesFor } from '../../mcp/resource.ts';
import type { Toolset } from '../../mcp/tool.ts';
import type { OrchestrationServices } from './create.ts';
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
import { runId, runShape } from './tools/orchestrationAnswers.ts';
import { runAnswer } from './tools/runAnswers.ts';
import { saveWorkflow } from './tools/save_workflow.ts';

/** Runs as resources: what MCP's own `subscriptions/listen` watches. */
const run = templatesFor<OrchestrationServices>()({
  uriTemplate: 'run://{runId}',
  name: 'run',
  title: 'Run',
  description: 'A run of yours: what orchestration.get_run answers. It changes with every step.',
  mimeType: 'application/json',
  role: 'viewer',
  scope: 'owner',
  variables: z.object({ runId }),
  read: async ({ services, principal }, { runId: id }) => {
    return JSON.stringify(runShape.parse(runAnswer(await services.orchestration.runs.view(principal, id))));
  },
  watch: ({ services, principal, gone }, { runId: id }) =>
    services.orchestration.runs.watch(principal, id, gone()),
});

/** Work for several models. Source: the orchestration specification, in its order; then ours. */
export const orchestration: Toolset<OrchestrationServices> = {
  name: 'orchestration',
  instructions:
    'work for several models. orchestration.orchestrate chooses workflow and agents; orchestration.list_workflows shows workflows. What takes longer than a call continues, and orchestration.get_run has its result.',
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
  templates: [run],
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
} from './rules/agents/model.ts';
export { estimatedTokens } from './rules/calls/budget.ts';
export type { RunDispatch } from './rules/ports.ts';
export { sightOf } from './rules/runs/visibility.ts';
