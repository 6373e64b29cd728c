import type { AgentOverview } from './agents.ts';
import type { RecentCalls } from './metrics.ts';
import type { TaskOverview } from './queue.ts';
import type { SkillRegistry } from './skills.ts';
import type { InstanceGauge, SystemStatus } from './status.ts';

/** What the system tools ask. */
export interface SystemServices {
  readonly overview: AgentOverview;
  readonly tasks: TaskOverview;
  readonly skills: SkillRegistry;
  readonly status: SystemStatus;
  readonly recentCalls: RecentCalls;
  readonly gauge: InstanceGauge;
  /** This deployment's: `1.0.0`. */
  readonly version: string;
}
