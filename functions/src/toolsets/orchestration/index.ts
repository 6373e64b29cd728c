import { z } from 'zod';
import { templatesFor } from '../../mcp/resource.ts';
import type { Toolset } from '../../mcp/tool.ts';
import type { OrchestrationServices } from './create.ts';
import { getCapabilities, listAgents } from './tools/agents.ts';
import { runId, runShape } from './tools/orchestrationResponses.ts';
import { runResponse } from './tools/runResponses.ts';
import { cancelRun, getRun, listRuns } from './tools/runs.ts';
import { executeCode, executeTask, orchestrate, orchestrateParallel, orchestrateWorkflow } from './tools/starting.ts';
import { deleteWorkflow, listWorkflows, saveWorkflow } from './tools/workflows.ts';

/** Clients can watch this resource through MCP's `subscriptions/listen`. */
const run = templatesFor<OrchestrationServices>()({
  uriTemplate: 'run://{runId}',
  name: 'run',
  title: 'Run',
  description: 'One of your runs, as orchestration.get_run returns it; changes with every step.',
  mimeType: 'application/json',
  role: 'viewer',
  scope: 'owner',
  variables: z.object({ runId }),
  read: async ({ services, principal }, { runId: id }) =>
    JSON.stringify(runShape.parse(runResponse(await services.orchestration.runs.view(principal, id)))),
  watch: ({ services, principal, disconnectSignal }, { runId: id }) =>
    services.orchestration.runs.watch(principal, id, disconnectSignal()),
});

/** Tools that run work on several models. The tools of the orchestration specification come first, in its order. */
export const orchestration: Toolset<OrchestrationServices> = {
  name: 'orchestration',
  instructions:
    'run work on several models: orchestration.orchestrate chooses workflow and agents; orchestration.list_workflows shows workflows. Long runs continue in the background: call orchestration.get_run.',
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
  type AgentProfile,
  type AskOptions,
  type Availability,
  type FailureClass,
  type HostedAgent,
  type ModelAnswer,
  type ModelEffort,
  ModelFailure,
  type ModelFailureDetails,
  type ModelRequest,
  type Usage,
} from './rules/agents/model.ts';
export { estimatedTokens } from './rules/calls/budget.ts';
export type { RunDispatch } from './rules/ports.ts';
export { visibilityOf } from './rules/runs/visibility.ts';
