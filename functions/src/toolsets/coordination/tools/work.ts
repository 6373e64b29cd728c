/** The tools of an agent at work: claim, start, complete, fail and release a task. Source: the coordination specification. */
import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { guidance, wholeNumber } from '../../../mcp/tool.ts';
import { type ClaimOutcome, DEFAULT_LEASE_SECONDS } from '../rules/claims.ts';
import type { Message } from '../rules/mailbox.ts';
import { NO_TASK_REASONS } from '../rules/nothingToClaim.ts';
import type { Task } from '../rules/task.ts';
import {
  agentId,
  claimEpoch,
  defineTool,
  lateResultOf,
  messagesAnswer,
  messagesShape,
  outcomeAnswer,
  outcomeShape,
  taskAnswer,
  taskId,
  taskShape,
  text,
  texts,
} from './coordinationAnswers.ts';

const DAY_SECONDS = 24 * 60 * 60;

const MAX_IN_HAND = 100;

export const claimTask = defineTool({
  name: 'claim_task',
  title: 'Claim a task',
  description:
    'Claims the first task that you may do; where there is none, reason says why. The claim is a lease that any call of yours renews. What you hold but have not started comes again, with resumed: true.',
  details:
    'The order is priority, then deadline, then age. The same comes again also where you hold as many as you may. Where there is none for you, explanation tells more.',
  input: z.strictObject({
    agent_id: agentId,
    lease_seconds: wholeNumber(1, DAY_SECONDS)
      .default(DEFAULT_LEASE_SECONDS)
      .describe('How long it lasts without a call of yours'),
    in_hand: z
      .array(idOf('a task'))
      .max(MAX_IN_HAND, `expected at most ${MAX_IN_HAND} tasks`)
      .optional()
      .describe('Tasks you know to be yours, to claim one more'),
  }),
  output: z.object({
    success: z.boolean(),
    task: taskShape.optional(),
    resumed: z.boolean().optional(),
    message: z.string().optional(),
    reason: z.enum(NO_TASK_REASONS).optional().describe('Why there is none, for a program.'),
    explanation: guidance().optional().describe('Why there is none, and what would change that.'),
    messages: messagesShape,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  answersWhole: true,
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2' },
  answer: (outcome: ClaimOutcome) => {
    const messages = messagesAnswer(outcome.messages ?? []);
    if (outcome.kind === 'none')
      return {
        success: false,
        message: 'No available tasks with satisfied dependencies',
        ...outcome.why,
        messages,
      };
    const resumed = outcome.kind === 'resumed' || undefined;
    return { success: true, task: taskAnswer(outcome.task), resumed, messages };
  },
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, lease_seconds, in_hand }) => {
    const { id: agentId, readsMessages } = await services.liveness.acting(principal, workspace, agent_id);
    const request = { workspace, agentId, readsMessages, leaseSeconds: lease_seconds, inHand: in_hand };
    return services.taskClaims.claim(request, recordAnswer);
  },
});

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task that you claimed as in progress.',
  details: 'Its holder may say so again.',
  input: z.strictObject({ agent_id: agentId, task_id: taskId, claim_epoch: claimEpoch }),
  output: z.object({
    success: z.boolean(),
    late_result: taskShape.shape.late_result,
    messages: messagesShape,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  answer: ({ task, messages }: Started) => ({
    success: true,
    late_result: lateResultOf(task),
    messages: messagesAnswer(messages),
  }),
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, task_id, claim_epoch }) => {
    const agent = await services.liveness.acting(principal, workspace, agent_id);
    const messages = await services.messages.unread(agent, workspace);
    const started = (task: Task): Started => ({ task, messages });
    const claimant = { agent_id: agent.id, claim_epoch: claim_epoch };
    const record = (task: Task) => recordAnswer(started(task));
    return started(await services.taskQueue.start(principal, task_id, claimant, record));
  },
});

interface Started {
  readonly task: Task;
  readonly messages: readonly Message[];
}

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Complete a task',
  description: 'Completes a task that you hold, with its result. Repeating the same report is harmless.',
  details:
    'Tasks that depended on it may become claimable. With when_parts_done you are relieved of it now, and it is done with this result when all that is part of it is.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    output: text('Summary of the result', 200_000),
    files_modified: texts('Modified files', 1000).optional(),
    files_created: texts('Created files', 1000).optional(),
    claim_epoch: claimEpoch,
    when_parts_done: z.boolean().default(false).describe('Done once all its parts are'),
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
  answer: outcomeAnswer,
  handler: async (
    { services, workspace, principal, recordAnswer },
    { agent_id, task_id, claim_epoch, when_parts_done, ...report },
  ) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const claimant = { agent_id: agentId, claim_epoch: claim_epoch };
    const result = {
      output: report.output,
      ...(report.files_modified && { files_modified: report.files_modified }),
      ...(report.files_created && { files_created: report.files_created }),
    };
    return services.taskQueue.reportOutcome(
      principal,
      task_id,
      {
        claimant,
        outcome: { kind: 'done', result, ...(when_parts_done && { whenPartsDone: when_parts_done }) },
      },
      recordAnswer,
    );
  },
});

export const failTask = defineTool({
  name: 'fail_task',
  title: 'Fail a task',
  description:
    'Fails a task that you hold. That is final and blocks its dependents, unless retryable: then others try again later, at most 3 times.',
  details: 'With retryable it becomes available again after a wait.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    error: text('What happened', 20_000),
    retryable: z.boolean().default(false).describe('Whether to try again'),
    claim_epoch: claimEpoch,
  }),
  output: outcomeShape,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002', error: 'The test database is not reachable' },
  answer: outcomeAnswer,
  handler: async (
    { services, workspace, principal, recordAnswer },
    { agent_id, task_id, claim_epoch, ...report },
  ) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const claimant = { agent_id: agentId, claim_epoch: claim_epoch };
    return services.taskQueue.reportOutcome(
      principal,
      task_id,
      { claimant, outcome: { kind: 'failed', ...report } },
      recordAnswer,
    );
  },
});

export const releaseTask = defineTool({
  name: 'release_task',
  title: 'Release a task',
  description:
    'Takes a task from its holder, so that others can claim it at once: for its creator and leaders.',
  details: 'What its holder reports still counts until somebody else has claimed it.',
  input: z.strictObject({ task_id: taskId, reason: text('Why, for its holder', 2000).optional() }),
  output: z.object({ success: z.boolean(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-002', reason: 'Its agent hangs' },
  answer: (task: Task) => ({ success: true, task: taskAnswer(task) }),
  handler: ({ services, principal, recordAnswer }, { task_id, reason }) =>
    services.taskLevers.release(principal, { taskId: task_id, reason }, recordAnswer),
});
