import type { Toolset } from '../../mcp/tool.ts';
import type { SystemServices } from './rules/services.ts';
import { getAgents } from './tools/getAgents.ts';
import { getSystemStatus } from './tools/getSystemStatus.ts';
import { getTaskQueue } from './tools/getTaskQueue.ts';
import { listSkills } from './tools/listSkills.ts';

/** Finding one's way. Source: spec/network.md, "System Navigation Tools". */
export const system: Toolset = {
  name: 'system',
  instructions:
    'listSkills, getAgents, getTaskQueue and getSystemStatus tell what can be done, by whom, what waits, and whether all is well.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus],
  resources: [],
};

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly system: SystemServices;
  }
}
