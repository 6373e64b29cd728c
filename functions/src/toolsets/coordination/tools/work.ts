/** Tools for workers: claim, start, complete, fail and release a task. Source: the coordination specification. */
import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { guidance, type WritingContext, wholeNumber } from '../../../mcp/tool.ts';
import type { CoordinationServices } from '../create.ts';
import { type ClaimOutcome, DEFAULT_LEASE_SECONDS } from '../rules/claims.ts';
import type { Message } from '../rules/mailbox.ts';
import { NO_TASK_REASONS } from '../rules/noTask.ts';
import type { ReportedOutcome, Task, TaskOutcome } from '../rules/task.ts';
import {
  agentId,
  claimEpoch,
  defineTool,
  lateReportOf,
  messagesResponse,
  messagesShape,
  outcomeResponse,
  outcomeShape,
  taskId,
  taskResponse,
  taskShape,
  text,
  texts,
} from './coordinationResponses.ts';

const DAY_SECONDS = 24 * 60 * 60;

const MAX_HELD = 100;

export const claimTask = defineTool({
  name: 'claim_task',
  title: 'Claim a task',
  description:
    'Claims the next available task in the queue; if none, returns a reason. Any call renews the lease. An unstarted claim is returned again, with resumed: true.',
  details:
    'Order: priority, then deadline, then age. If you already hold your maximum number of tasks, one of them is returned. If no task is available, `explanation` says why.',
  input: z.strictObject({
    agent_id: agentId,
    lease_seconds: wholeNumber(1, DAY_SECONDS).default(DEFAULT_LEASE_SECONDS).describe('Lease length, in seconds'),
    in_hand: z
      .array(idOf('a task'))
      .max(MAX_HELD, `expected at most ${MAX_HELD} tasks`)
      .optional()
      .describe('IDs of tasks you hold; allows another claim'),
  }),
  output: z.object({
    success: z.boolean(),
    task: taskShape.optional(),
    resumed: z.boolean().optional(),
    message: z.string().optional(),
    reason: z.enum(NO_TASK_REASONS).optional().describe('Machine-readable reason if there is no task.'),
    explanation: guidance().optional().describe('Why there is no task, and what would change that.'),
    messages: messagesShape,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  returnsWhole: true,
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2' },
  response: (outcome: ClaimOutcome) => {
    const messages = messagesResponse(outcome.messages ?? []);
    if (outcome.kind === 'none')
      return { success: false, message: 'No available tasks with satisfied dependencies', ...outcome.why, messages };
    const resumed = outcome.kind === 'resumed' || undefined;
    return { success: true, task: taskResponse(outcome.task), resumed, messages };
  },
  handler: async ({ services, workspace, principal, recordResponse }, { agent_id, lease_seconds, in_hand }) => {
    const { id: agentId, readsMessages } = await services.liveness.acting(principal, workspace, agent_id);
    const request = { workspace, agentId, readsMessages, leaseSeconds: lease_seconds, heldTaskIds: in_hand };
    return services.taskClaims.claim(request, recordResponse);
  },
});

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task you claimed as in progress.',
  details: 'The holder can repeat the call.',
  input: z.strictObject({ agent_id: agentId, task_id: taskId, claim_epoch: claimEpoch }),
  output: z.object({ success: z.boolean(), late_result: taskShape.shape.late_result, messages: messagesShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  response: ({ task, messages }: StartedTask) => ({
    success: true,
    late_result: lateReportOf(task),
    messages: messagesResponse(messages),
  }),
  handler: async ({ services, workspace, principal, recordResponse }, { agent_id, task_id, claim_epoch }) => {
    const agent = await services.liveness.acting(principal, workspace, agent_id);
    const messages = await services.messages.unread(agent, workspace);
    const started = (task: Task): StartedTask => ({ task, messages });
    const claimant = { agent_id: agent.id, claim_epoch: claim_epoch };
    const record = (task: Task) => recordResponse(started(task));
    return started(await services.taskQueue.start(principal, task_id, claimant, record));
  },
});

interface StartedTask {
  readonly task: Task;
  readonly messages: readonly Message[];
}

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Complete a task',
  description: 'Completes a task you hold, with its result. Repeating the same report is safe.',
  details:
    'Dependents may become claimable. With when_parts_done, your claim ends now; the task completes with this result once all its parts are done.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    output: text('Summary of the result', 200_000),
    files_modified: texts('Modified files', 1000).optional(),
    files_created: texts('Created files', 1000).optional(),
    claim_epoch: claimEpoch,
    when_parts_done: z.boolean().default(false).describe('Wait for all its parts'),
  }),
  output: outcomeShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: {
    agent_id: 'terminal-2',
    task_id: 'task-xxx-002',
    output: 'Implemented login endpoint with JWT authentication',
    files_modified: ['src/routes/index.ts'],
    files_created: ['src/auth/login.ts', 'src/auth/jwt.ts'],
  },
  response: outcomeResponse,
  handler: (context, { output, files_modified, files_created, when_parts_done: whenPartsDone, ...claim }) => {
    const result = { output, ...(files_modified && { files_modified }), ...(files_created && { files_created }) };
    return report(context, claim, { kind: 'done', result, ...(whenPartsDone && { whenPartsDone }) });
  },
});

export const failTask = defineTool({
  name: 'fail_task',
  title: 'Fail a task',
  description:
    'Fails a task you hold. This is final and blocks its dependents, unless retryable: then it can be retried later, at most 3 times.',
  details: 'With `retryable`, the task becomes available again after a delay.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    error: text('Error message', 20_000),
    retryable: z.boolean().default(false).describe('Whether to retry'),
    claim_epoch: claimEpoch,
  }),
  output: outcomeShape,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002', error: 'The test database is not reachable' },
  response: outcomeResponse,
  handler: (context, { error, retryable, ...claim }) => report(context, claim, { kind: 'failed', error, retryable }),
});

async function report(
  { services, workspace, principal, recordResponse }: WritingContext<CoordinationServices, TaskOutcome>,
  { agent_id, task_id, claim_epoch }: { agent_id: string; task_id: string; claim_epoch?: number | undefined },
  outcome: ReportedOutcome,
): Promise<TaskOutcome> {
  const agentId = await services.liveness.actAs(principal, workspace, agent_id);
  const claimant = { agent_id: agentId, claim_epoch };
  return services.taskQueue.reportOutcome(principal, task_id, { claimant, outcome }, recordResponse);
}

export const releaseTask = defineTool({
  name: 'release_task',
  title: 'Release a task',
  description: 'Releases a claimed task back to the queue for another worker. For its creator and leaders.',
  details: "The holder's report still counts until another agent claims the task.",
  input: z.strictObject({ task_id: taskId, reason: text('Shown to holder', 2000).optional() }),
  output: z.object({ success: z.boolean(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-002', reason: 'Its agent does not respond' },
  response: (task: Task) => ({ success: true, task: taskResponse(task) }),
  handler: ({ services, principal, recordResponse }, { task_id, reason }) =>
    services.taskLevers.release(principal, { taskId: task_id, reason }, recordResponse),
});
