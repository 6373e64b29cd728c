import type { Toolset } from '../../mcp/tool.ts';
import { getAgents } from './getAgents.ts';
import { getSystemStatus } from './getSystemStatus.ts';
import { getTaskQueue } from './getTaskQueue.ts';
import { listSkills } from './listSkills.ts';

/** Finding one's way. Source: spec/network.md, "System Navigation Tools". */
export const system: Toolset = {
  name: 'system',
  instructions:
    'listSkills, getAgents, getTaskQueue and getSystemStatus tell what can be done, by whom, what waits, and whether all is well.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus],
  resources: [],
};
