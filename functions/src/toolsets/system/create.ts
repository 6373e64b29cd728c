import type { AnyChange } from '../../kernel/commit.ts';
import type { AuditTrail } from './rules/audit.ts';
import type { Budgets } from './rules/budgets.ts';
import type { AgentOverview, FindSkills } from './rules/directory.ts';
import type { RecentCalls } from './rules/metrics.ts';
import type { SystemStatus } from './rules/status.ts';
import type { TaskOverview } from './rules/taskOverview.ts';
import type { Trees } from './rules/tree.ts';
import type { Undoing } from './rules/undo.ts';
import type { ProcessGauge } from './store/metrics.ts';

/** What the tools ask. */
export interface SystemServices {
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
