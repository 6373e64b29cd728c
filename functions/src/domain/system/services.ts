import type { RecentCalls } from '../metrics/recentCalls.ts';
import type { AgentOverview } from './agentOverview.ts';
import type { SkillRegistry } from './skillRegistry.ts';
import type { InstanceGauge, SystemStatus } from './systemStatus.ts';
import type { TaskOverview } from './taskOverview.ts';

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
