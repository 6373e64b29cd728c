import type { Toolset } from '../../mcp/tool.ts';
import { deleteWorkflow } from './delete_workflow.ts';
import { getCapabilities } from './get_capabilities.ts';
import { listAgents } from './list_agents.ts';
import { listWorkflows } from './list_workflows.ts';
import { saveWorkflow } from './save_workflow.ts';

/** Work for several models. Source: spec/orchestration.md, in its order; then ours. */
export const orchestration: Toolset = {
  name: 'orchestration',
  instructions:
    'Work for several models: list_workflows and list_agents show what there is, save_workflow keeps a workflow of your own.',
  tools: [listWorkflows, listAgents, getCapabilities, saveWorkflow, deleteWorkflow],
  resources: [],
};
