import type { AnyChange } from '../../kernel/commit.ts';
import type { Toolset } from '../../mcp/tool.ts';
import type { AuditTrail } from './rules/audit.ts';
import type { Budgets } from './rules/budgets.ts';
import type { AgentOverview, FindSkills } from './rules/directory.ts';
import type { RecentCalls } from './rules/metrics.ts';
import type { SystemStatus } from './rules/status.ts';
import type { TaskOverview } from './rules/taskOverview.ts';
import type { Trees } from './rules/tree.ts';
import type { Undoing } from './rules/undo.ts';
import type { ProcessGauge } from './store/metrics.ts';
import { getAgents } from './tools/getAgents.ts';
import { getAudit } from './tools/getAudit.ts';
import { getSystemStatus } from './tools/getSystemStatus.ts';
import { getTaskQueue } from './tools/getTaskQueue.ts';
import { getTree } from './tools/getTree.ts';
import { listSkills } from './tools/listSkills.ts';
import { setBudget } from './tools/setBudget.ts';
import { undo } from './tools/undo.ts';

/** Finding one's way. Source: the network specification, "System Navigation Tools". */
export const system: Toolset = {
  name: 'system',
  instructions: 'what can be done, by whom, what waits, and whether all is well.',
  tools: [listSkills, getAgents, getTaskQueue, getSystemStatus, getTree, setBudget, getAudit, undo],
  resources: [],
};

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly system: {
      readonly overview: AgentOverview;
      readonly tasks: TaskOverview;
      readonly trees: Trees;
      readonly budgets: Budgets;
      readonly findSkills: FindSkills;
      readonly status: SystemStatus;
      readonly recentCalls: RecentCalls;
      readonly audit: AuditTrail;
      readonly undoing: Undoing<AnyChange>;
      readonly gauge: ProcessGauge;
      /** This deployment's: `1.0.0`. */
      readonly version: string;
    };
  }
}
