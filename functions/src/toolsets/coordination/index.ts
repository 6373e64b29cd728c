import type { Toolset } from '../../mcp/tool.ts';
import { resources } from './resources.ts';
import type { TaskClaims } from './rules/claims.ts';
import type { CoordinationService } from './rules/coordination.ts';
import type { TaskCreation } from './rules/creation.ts';
import type { AgentMembership } from './rules/membership.ts';
import type { TaskQueue } from './rules/queue.ts';
import { addDiscovery } from './tools/add_discovery.ts';
import { claimTask } from './tools/claim_task.ts';
import { completeTask } from './tools/complete_task.ts';
import { createTask } from './tools/create_task.ts';
import { createTasksBatch } from './tools/create_tasks_batch.ts';
import { errorEnvelope } from './tools/errorEnvelope.ts';
import { failTask } from './tools/fail_task.ts';
import { getAllTasks } from './tools/get_all_tasks.ts';
import { getDiscoveries } from './tools/get_discoveries.ts';
import { getMasterPlan } from './tools/get_master_plan.ts';
import { getResults } from './tools/get_results.ts';
import { getStatus } from './tools/get_status.ts';
import { heartbeat } from './tools/heartbeat.ts';
import { initCoordination } from './tools/init_coordination.ts';
import { registerAgent } from './tools/register_agent.ts';
import { startTask } from './tools/start_task.ts';

/** Teams of agents on one task graph. Source: spec/coordination.md, in its order. */
export const coordination: Toolset = {
  name: 'coordination',
  instructions:
    'Work a shared task graph. A leader calls init_coordination, then create_tasks_batch. A worker calls register_agent, then claim_task, start_task and complete_task or fail_task until claim_task has no more.',
  tools: [
    initCoordination,
    createTask,
    createTasksBatch,
    getStatus,
    getAllTasks,
    getResults,
    registerAgent,
    claimTask,
    startTask,
    completeTask,
    failTask,
    heartbeat,
    addDiscovery,
    getDiscoveries,
    getMasterPlan,
  ],
  resources,
  errors: errorEnvelope,
};

export { DEFAULT_LEASE_SECONDS, type QueueMark, TaskClaims } from './rules/claims.ts';
export {
  asCodingTask,
  type CodingTask,
  codingClaimed,
  notClaimable,
  projectCapability,
  requireCodingTask,
} from './rules/codingTask.ts';
export {
  backoffSeconds,
  CODING_TOOLS,
  type CodingTool,
  type Commit,
  codingTool,
  FAILURE_CLASSES,
  type Failure,
  type FailureClass,
  isRetryable,
  MAX_ATTEMPTS,
  type PastAttempt,
  programOf,
  type StoredResult,
} from './rules/codingWork.ts';
export { TaskCreation, type TaskDraft } from './rules/creation.ts';
export type { CodingExpiry } from './rules/leases.ts';
export {
  type Claimant,
  cancelTask,
  claimTask,
  finishTask,
  noteStart,
  type ReportedOutcome,
  renewLease,
  reportOutcome,
  restoreClaim,
  startTask,
  type TaskOutcome,
  waitTask,
} from './rules/machine.ts';
export type { CoordinationPorts } from './rules/ports.ts';
export { TaskFinishing } from './rules/queue.ts';
export { QUEUE_STATUSES, type QueueStatus, STATE_SHARE, satisfiedKeys } from './rules/queueQuery.ts';
export { CODING_GOAL, type Session, type SessionCounters } from './rules/session.ts';
export {
  type Claim,
  CODING_TYPE,
  compareInQueue,
  isClosed,
  isHeld,
  PRIORITY_RANGES,
  PRIORITY_WORDS,
  type PriorityWord,
  priorityWord,
  TASK_STATUSES,
  type Task,
  type TaskResult,
  type TaskStatus,
  taskNotFound,
  taskType,
  USUAL_TYPE,
} from './rules/task.ts';
export { outcomeChanges, taskChanges } from './rules/taskChanges.ts';
export { resultPartFromDocument } from './store/codingDocument.ts';
export { discoveryFromDocument, sessionFromDocument } from './store/sessionDocument.ts';
export type { SessionReader } from './store/sessions.ts';
export { taskFromDocument } from './store/taskDocument.ts';
export type { TaskReader } from './store/tasks.ts';

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly membership: AgentMembership;
    readonly coordination: CoordinationService;
    readonly taskCreation: TaskCreation;
    readonly taskClaims: TaskClaims;
    readonly taskQueue: TaskQueue;
  }
}
