/** Tools for workers: claim, start, complete, fail and release a task. Source: the coordination specification. */
import { z } from 'zod';
import { recordedAs } from '../../../agents/rules/liveness.ts';
import { idOf } from '../../../kernel/ids.ts';
import { guidance, optionalList, type WritingContext, wholeNumber, writing } from '../../../mcp/tool.ts';
import type { CoordinationServices } from '../create.ts';
import type { ClaimOutcome } from '../rules/claims.ts';
import type { Message } from '../rules/mailbox.ts';
import { NO_TASK_REASONS } from '../rules/noTask.ts';
import { VERDICTS } from '../rules/proof/proofFields.ts';
import { DEFAULT_LEASE_SECONDS } from '../rules/stateMachine.ts';
import type { ReportedOutcome, Task, TaskOutcome } from '../rules/task.ts';
import * as shapes from './coordinationResponses.ts';

const DAY_SECONDS = 24 * 60 * 60;
const MAX_HELD = 100;
const MAX_WAIT_SECONDS = 50;

/** Time of a request that is left for the last claim and the response after a wait. */
const RESPONSE_MARGIN_MS = 5000;

export const claimTask = shapes.defineTool({
  name: 'claim_task',
  title: 'Claim a task',
  description: 'Claims the next available task; if none, waits up to wait_seconds (at most 50), then returns a reason.',
  details:
    'Order: priority, then deadline, then age. Any call renews the lease. A claim that you have not started is returned again, with resumed: true; with `start`, so is each task that you hold and `in_hand` does not list. If you already hold your maximum number of tasks, one of them is returned. A wait ends 5 seconds before the time limit of the request. If no task is available, `explanation` says why.',
  rare: ['lease_seconds', 'share_files'],
  input: z.strictObject({
    agent_id: shapes.agentId,
    lease_seconds: wholeNumber(1, DAY_SECONDS).default(DEFAULT_LEASE_SECONDS).describe('Lease length, in seconds'),
    in_hand: z
      .array(idOf('a task'))
      .max(MAX_HELD, `expected at most ${MAX_HELD} tasks`)
      .optional()
      .describe('Tasks you hold; allows another claim'),
    // Without defaults, because an idempotency key of the last release stores a digest of the arguments.
    start: z.boolean().optional().describe('Also start it'),
    wait_seconds: wholeNumber(0, MAX_WAIT_SECONDS).optional().describe('Default: no wait'),
    share_files: z.boolean().optional().describe('Also take a task whose files another task has'),
  }),
  output: z.object({
    success: z.boolean(),
    task: shapes.taskShape.optional(),
    resumed: z.boolean().optional(),
    message: z.string().optional(),
    reason: z.enum(NO_TASK_REASONS).optional().describe('Machine-readable reason if there is no task.'),
    explanation: guidance().optional().describe('Why there is no task, and what would change that.'),
    files_shared: shapes.filesShape,
    messages: shapes.messagesShape,
  }),
  returnsWhole: true,
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  notifies: 'wait_seconds',
  example: { agent_id: 'terminal-2' },
  response: (outcome: ClaimOutcome) => {
    const messages = optionalList(outcome.messages);
    if (outcome.kind === 'none')
      return { success: false, message: 'No available tasks with satisfied dependencies', ...outcome.why, messages };
    const { task, notice: message, shared } = outcome;
    const resumed = outcome.kind === 'resumed' || undefined;
    const files_shared = optionalList(shared);
    return { success: true, task: shapes.taskResponse(task), resumed, message, files_shared, messages };
  },
  handler: async (context, { agent_id, lease_seconds, in_hand, start = false, wait_seconds = 0, ...wishes }) => {
    const { services, workspace, principal, recordResponse, timeLeft } = context;
    const { id: agentId, readsMessages } = await services.liveness.acting(principal, workspace, agent_id);
    const { share_files: sharesFiles = false } = wishes;
    const claim = { workspace, agentId, readsMessages, leaseSeconds: lease_seconds, heldTaskIds: in_hand, start };
    const request = { ...claim, sharesFiles, by: principal };
    const waitMs = Math.floor(Math.min(wait_seconds * 1000, timeLeft() - RESPONSE_MARGIN_MS));
    return services.taskClaims.claimOrWait(request, waitMs, context, recordedAs(agentId, recordResponse));
  },
});

export const startTask = shapes.defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task you claimed as in progress.',
  details: 'The holder can repeat the call.',
  input: z.strictObject({ agent_id: shapes.agentId, task_id: shapes.taskId, claim_epoch: shapes.claimEpoch }),
  output: z.object({
    success: z.boolean(),
    late_result: shapes.taskShape.shape.late_result,
    messages: shapes.messagesShape,
  }),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  response: ({ task, messages }: { readonly task: Task; readonly messages: readonly Message[] }) => ({
    success: true,
    late_result: task.late_result,
    messages: optionalList(messages),
  }),
  handler: async ({ services, workspace, principal, recordResponse }, { agent_id, task_id, claim_epoch }) => {
    const agent = await services.liveness.acting(principal, workspace, agent_id);
    const messages = await services.messages.unread(agent, workspace);
    const started = (task: Task) => ({ task, messages });
    const record = recordedAs(agent.id, (task: Task) => recordResponse(started(task)));
    return started(await services.taskQueue.start(principal, task_id, { agent_id: agent.id, claim_epoch }, record));
  },
});

export const completeTask = shapes.defineTool({
  name: 'complete_task',
  title: 'Complete a task',
  description: 'Completes a task you hold. Repeating a report is safe.',
  details:
    'Dependents may become claimable. If the task has an acceptance, the result is handed in, and the task is done when it is proven. A review needs a verdict, and output then lists the requested changes, or the reasons for the approval. With when_parts_done, your claim ends now; the task completes with this result once all its parts are done.',
  rare: ['files_created', 'when_parts_done', 'branch'],
  input: z.strictObject({
    agent_id: shapes.agentId,
    task_id: shapes.taskId,
    output: shapes.text('Result summary', 200_000),
    files_modified: shapes.texts('Modified files', 1000).optional(),
    files_created: shapes.texts('Created files', 1000).optional(),
    claim_epoch: shapes.claimEpoch,
    when_parts_done: z.boolean().default(false).describe('Wait for all its parts'),
    branch: shapes.branchName.optional().describe('Branch of the work'),
    verdict: z.enum(VERDICTS).optional().describe('For reviews'),
  }),
  output: shapes.outcomeShape,
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: {
    agent_id: 'terminal-2',
    task_id: 'task-xxx-002',
    output: 'Implemented login endpoint with JWT authentication',
    files_modified: ['src/routes/index.ts'],
    files_created: ['src/auth/login.ts', 'src/auth/jwt.ts'],
  },
  response: shapes.outcomeResponse,
  handler: (context, { output, files_modified, files_created, when_parts_done, branch, verdict, ...claim }) => {
    const result = { output, ...(files_modified && { files_modified }), ...(files_created && { files_created }) };
    const work = branch === undefined ? undefined : { branch };
    return report(context, claim, { kind: 'done', result, whenPartsDone: when_parts_done, work, verdict });
  },
});

export const failTask = shapes.defineTool({
  name: 'fail_task',
  title: 'Fail a task',
  description: 'Fails a task you hold. Final, and blocks dependents, unless retryable (3 retries at most).',
  details: 'With `retryable`, the task becomes available again after a delay.',
  input: z.strictObject({
    agent_id: shapes.agentId,
    task_id: shapes.taskId,
    error: shapes.text('Error message', 20_000),
    retryable: z.boolean().default(false).describe('Whether to retry'),
    claim_epoch: shapes.claimEpoch,
  }),
  output: shapes.outcomeShape,
  ...writing('worker', { destructiveHint: true, idempotentHint: true }),
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002', error: 'The test database is not reachable' },
  response: shapes.outcomeResponse,
  handler: (context, { error, retryable, ...claim }) => report(context, claim, { kind: 'failed', error, retryable }),
});

async function report(
  { services, workspace, principal, recordResponse }: WritingContext<CoordinationServices, TaskOutcome>,
  { agent_id, task_id, claim_epoch }: { agent_id: string; task_id: string; claim_epoch?: number | undefined },
  outcome: ReportedOutcome,
): Promise<TaskOutcome> {
  const { id, registered_by } = await services.liveness.acting(principal, workspace, agent_id);
  const claimant = { agent_id: id, claim_epoch };
  const record = recordedAs(id, recordResponse);
  return services.taskQueue.reportOutcome(principal, task_id, { claimant, outcome, registered_by }, record);
}

export const releaseTask = shapes.defineTool({
  name: 'release_task',
  title: 'Release a task',
  description: 'Releases a claimed task back to the queue for another worker. For its creator and leaders.',
  details: "The holder's report still counts until another agent claims the task.",
  input: z.strictObject({ task_id: shapes.taskId, reason: shapes.text('Shown to holder', 2000).optional() }),
  output: z.object({ success: z.boolean(), task: shapes.taskShape }),
  ...writing('worker', { destructiveHint: true, idempotentHint: false }),
  example: { task_id: 'task-xxx-002', reason: 'Its agent does not respond' },
  response: (task: Task) => ({ success: true, task: shapes.taskResponse(task) }),
  handler: ({ services, principal, recordResponse }, { task_id, reason }) =>
    services.taskLevers.release(principal, { taskId: task_id, reason }, recordResponse),
});
