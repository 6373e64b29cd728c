import type { AgentLiveness } from '../../access/rules/liveness.ts';
import type { PortOf } from '../../kernel/ports.ts';
import type { TaskClaims } from './rules/claims.ts';
import type { CoordinationService } from './rules/coordination.ts';
import type { TaskCreation } from './rules/creation.ts';
import type { TaskLevers } from './rules/levers.ts';
import type { AgentMembership } from './rules/membership.ts';
import type { AgentMessages } from './rules/messages.ts';
import type { TaskQueue } from './rules/taskProgress.ts';
import type { TaskUpdates } from './rules/updating.ts';

/** What the tools ask. */
export interface CoordinationServices {
  readonly liveness: AgentLiveness;
  readonly membership: AgentMembership;
  readonly messages: AgentMessages;
  readonly coordination: CoordinationService;
  readonly taskCreation: PortOf<TaskCreation>;
  readonly taskClaims: TaskClaims;
  readonly taskQueue: TaskQueue;
  readonly taskLevers: TaskLevers;
  readonly taskUpdates: TaskUpdates;
}
