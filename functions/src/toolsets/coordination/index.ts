import { z } from 'zod';
import type { CallContext } from '../../mcp/callContext.ts';
import type { Resource } from '../../mcp/resource.ts';
import type { Toolset } from '../../mcp/tool.ts';
import type { CoordinationServices } from './create.ts';
import { prompts } from './prompts.ts';
import { heartbeat, messageAgent, registerAgent } from './tools/agents.ts';
import { discoveryResponse, pageOf, taskResponse } from './tools/coordinationResponses.ts';
import { addDiscovery, getAllTasks, getDiscoveries, getResults } from './tools/results.ts';
import { getMasterPlan, getStatus, initCoordination, masterPlanResponse, statusResponse } from './tools/session.ts';
import { cancelTask, createTask, createTasksBatch, reopen, retryTask, updateTask } from './tools/tasks.ts';
import { claimTask, completeTask, failTask, releaseTask, startTask } from './tools/work.ts';

/** Source: the coordination specification, "MCP Resources". */
const resources: readonly Resource<CoordinationServices>[] = [
  resource('status', 'Coordination status', 'Current coordination status', async ({ services, workspace }) =>
    statusResponse(await services.coordination.status(workspace)),
  ),
  resource('tasks', 'Tasks', 'All tasks in the queue', async ({ services, workspace }) => {
    const found = await services.coordination.listTasks(workspace, undefined, { limit: MAX_TASKS });
    const { items, end } = pageOf(found, (task) => task.created_at, taskResponse);
    return { tasks: items, ...end, ...(end.truncated && { goes_on: continues('get_all_tasks') }) };
  }),
  resource('discoveries', 'Discoveries', 'Shared discoveries', async ({ services, workspace }) => {
    const found = await services.coordination.listDiscoveries(workspace, undefined, { limit: MAX_DISCOVERIES });
    const { items, end } = pageOf(found, (discovery) => discovery.created_at, discoveryResponse);
    return { discoveries: items, ...end, ...(end.truncated && { goes_on: continues('get_discoveries') }) };
  }),
  resource('master-plan', 'Master plan', 'Master plan and goal', async ({ services, workspace }) =>
    masterPlanResponse(await services.coordination.session(workspace), workspace),
  ),
];

/** Toolset for teams of agents that share one task graph. Tools and order: as in the coordination specification. */
export const coordination: Toolset<CoordinationServices> = {
  name: 'coordination',
  instructions:
    'Shared task graph. Leaders call coordination.init_coordination, then coordination.create_tasks_batch. Workers call coordination.register_agent, then repeat coordination.claim_task {start: true, wait_seconds: 50} and coordination.complete_task.',
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
    cancelTask,
    retryTask,
    releaseTask,
    updateTask,
    reopen,
    messageAgent,
  ],
  resources,
  prompts,
  errors: {
    show: ({ message, details: { suggestion } }) => ({
      error: suggestion === undefined ? message : `${message} ${suggestion}`,
    }),
    schema: z.object({ error: z.string() }),
  },
};

/** Maximum number of tasks in a resource. For a longer list, the resource names the tool that returns the rest. */
const MAX_TASKS = 500;
const MAX_DISCOVERIES = 100;
const continues = (tool: string) => `To read the rest, call ${tool} with next_cursor as cursor.`;

function resource(
  name: string,
  title: string,
  description: string,
  content: (context: CallContext<CoordinationServices>) => Promise<unknown>,
): Resource<CoordinationServices> {
  return {
    uri: `coordination://${name}`,
    name,
    title,
    description,
    mimeType: 'application/json',
    role: 'viewer',
    read: async (context) => JSON.stringify(await content(context), null, 2),
  };
}

export {
  type BudgetWaitPorts,
  budgetReason,
  budgetRefusal,
  usageChanges,
} from './rules/budgetWait.ts';
export {
  type ClaimOutcome,
  claimableKeys,
  claimChanges,
  claimedBy,
  codingClaimed,
  TaskClaims,
} from './rules/claims.ts';
export {
  asCodingTask,
  backoffSeconds,
  CODING_AGENT,
  type CodingTask,
  type Failure,
  isRetryable,
  MAX_CODING_ATTEMPTS,
  MAX_STORED_ATTEMPTS,
  notClaimable,
  OTHER_PROGRAM,
  type PastAttempt,
  PROGRAM_NAME,
  programCapability,
  programOf,
  projectCapability,
  requireCodingTask,
  type StoredResult,
  toolCapability,
} from './rules/codingTask.ts';
export { TaskCreation, type TaskDraft } from './rules/creation.ts';
export { FileTouches } from './rules/files/fileTouches.ts';
export type { SharedFile } from './rules/files/heldFiles.ts';
export { filesFor, waitText, withoutFileWait } from './rules/files/reserving.ts';
export type { CodingExpiry } from './rules/leases.ts';
export type { Message } from './rules/mailbox.ts';
export type { AgentMembership } from './rules/membership.ts';
export { type AgentMessages, agentNotFound, isForTask, type MessageReceipt } from './rules/messages.ts';
export { queueGrowth } from './rules/openSession.ts';
export { type OwnerPorts, ownerState } from './rules/ownerless.ts';
export type { CoordinationChange, CoordinationPorts } from './rules/ports.ts';
export { QUEUE_STATUSES, type QueueStatus } from './rules/ports.ts';
export { mayReview } from './rules/proof/checks.ts';
export { type HandedInWork, REVIEWS, RUNS_COMMANDS } from './rules/proof/proofFields.ts';
export { closedRuling, Proofs, type Ruling } from './rules/proof/proofs.ts';
export { isVerifying, withAuthor } from './rules/proof/proving.ts';
export {
  APPROVE as APPROVE_RESULT,
  GIVE_UP,
  type QuestionChanges,
  type ResultQuestion,
} from './rules/proof/questions.ts';
export { CODING_GOAL, discoveryFromDocument, sumCounters } from './rules/session.ts';
export {
  cancelTask,
  claimTask,
  DEFAULT_LEASE_SECONDS,
  endWaitForAnswer,
  finishTask,
  handInFor,
  recordStart,
  renewLease,
  reportOutcome,
  restoreClaim,
  startTask,
  waitForAnswer,
  waitTask,
} from './rules/stateMachine.ts';
export { stuckReason } from './rules/stuck.ts';
export {
  type Claimant,
  CODING_TOOLS,
  CODING_TYPE,
  compareInQueue,
  DEFAULT_TYPE,
  FAILURE_CLASSES,
  HEARINGS,
  type Hearing,
  isClosed,
  isHeld,
  PRIORITY_RANGES,
  PRIORITY_WORDS,
  type PriorityWord,
  pendingQuestionOf,
  priorityWord,
  type ReportedOutcome,
  resultPartFromDocument,
  TASK_STATUSES,
  type Task,
  type TaskResult,
  type TaskStatus,
  TOOL_NAME,
  taskFromDocument,
  taskNotFound,
  taskType,
} from './rules/task.ts';
export { requireTaskManager } from './rules/taskActions.ts';
export { outcomeChanges, taskChanges, taskNode, withSpent } from './rules/taskChanges.ts';
export { MAX_STATE_SHARE, TaskQueue } from './rules/taskProgress.ts';
export {
  acceptanceArgument,
  filesShape,
  messagesShape,
  text,
  texts,
} from './tools/coordinationResponses.ts';
export { proofResponse, proofShape, verifyingResponse, verifyingShape } from './tools/proofResponses.ts';
