import type { Toolset } from '../../mcp/tool.ts';
import type { SystemServices } from './create.ts';
import { getAgents, listSkills } from './tools/agents.ts';
import { getAudit, undo } from './tools/audit.ts';
import { getSystemStatus } from './tools/getSystemStatus.ts';
import { getTaskQueue } from './tools/getTaskQueue.ts';
import { getTree, setBudget } from './tools/tree.ts';

/** Finding one's way. Source: the network specification, "System Navigation Tools". */
export const system: Toolset<SystemServices> = {
  name: 'system',
  instructions: 'what can be done, by whom, what waits, and whether all is well.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus, getTree, setBudget, getAudit, undo],
  resources: [],
};
