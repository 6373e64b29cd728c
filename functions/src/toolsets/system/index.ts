import type { Toolset } from '../../mcp/tool.ts';
import type { SystemServices } from './create.ts';
import { getAgents } from './tools/getAgents.ts';
import { getAudit } from './tools/getAudit.ts';
import { getSystemStatus } from './tools/getSystemStatus.ts';
import { getTaskQueue } from './tools/getTaskQueue.ts';
import { getTree } from './tools/getTree.ts';
import { listSkills } from './tools/listSkills.ts';
import { setBudget } from './tools/setBudget.ts';
import { undo } from './tools/undo.ts';

/** Finding one's way. Source: the network specification, "System Navigation Tools". */
export const system: Toolset<SystemServices> = {
  name: 'system',
  instructions: 'what can be done, by whom, what waits, and whether all is well.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus, getTree, setBudget, getAudit, undo],
  resources: [],
};
