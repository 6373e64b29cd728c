import type { Toolset } from '../../mcp/tool.ts';
import type { AgentOverview, FindSkills } from './rules/directory.ts';
import type { RecentCalls } from './rules/metrics.ts';
import type { SystemStatus } from './rules/status.ts';
import type { TaskOverview } from './rules/taskOverview.ts';
import type { ProcessGauge } from './store/metrics.ts';
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
    readonly system: {
      readonly overview: AgentOverview;
      readonly tasks: TaskOverview;
      readonly findSkills: FindSkills;
      readonly status: SystemStatus;
      readonly recentCalls: RecentCalls;
      readonly gauge: ProcessGauge;
      /** This deployment's: `1.0.0`. */
      readonly version: string;
    };
  }
}
