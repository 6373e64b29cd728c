import type { Toolset } from '../../mcp/tool.ts';
import type { SystemServices } from './create.ts';
import { getAgents, listSkills } from './tools/agents.ts';
import { getAudit, undo } from './tools/audit.ts';
import { getSystemStatus } from './tools/getSystemStatus.ts';
import { getTaskQueue } from './tools/getTaskQueue.ts';
import { getTree, setBudget } from './tools/tree.ts';

/** Toolset for agents, tasks, budgets, health, audit log and undo. Source: the network specification. */
export const system: Toolset<SystemServices> = {
  name: 'system',
  instructions: 'Find skills and agents, see the task queue, check health.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus, getTree, setBudget, getAudit, undo],
  resources: [],
};
