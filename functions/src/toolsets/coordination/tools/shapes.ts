/** Arguments and answers that coordination's tools share. Source: spec/coordination.md. */

import { z } from 'zod';
import { chosenId, idOf } from '../../../kernel/ids.ts';
import { MAX_RETRIES, type TaskOutcome } from '../rules/machine.ts';
import type { Discovery } from '../rules/session.ts';
import {
  type Claim,
  COORDINATION_STATUSES,
  coordinationStatus,
  isHeld,
  type Task,
  type TaskResult,
  type TaskStatus,
} from '../rules/task.ts';

export const agentId = (description: string) => chosenId().describe(description);

export const taskId = (description: string) => idOf('a task').describe(description);

export const claimEpoch = z
  .number()
  .refine((epoch) => Number.isSafeInteger(epoch) && epoch > 0, 'expected a whole number above 0')
  .optional()
  .describe('From claim_task: protects a newer claim');

/** Text that means something: at most `most` characters, not only white space. */
export const text = (description: string, most: number) =>
  z
    .string()
    .refine((value) => value.trim() !== '', 'expected some text')
    .refine((value) => value.length <= most, `expected at most ${most} characters`)
    .describe(description);

/** A list of short texts. */
export const texts = (description: string, most: number, each = 1000) =>
  z
    .array(
      z.string().refine((value) => value !== '' && value.length <= each, `expected 1 to ${each} characters`),
    )
    .refine((list) => list.length <= most, `expected at most ${most} entries`)
    .describe(description);

const result = z.object({
  output: z.string(),
  files_modified: z.array(z.string()).optional(),
  files_created: z.array(z.string()).optional(),
});

/** A task as every coordination tool shows it. */
export const taskShape = z.object({
  id: z.string(),
  description: z.string(),
  status: z.enum(COORDINATION_STATUSES),
  priority: z.number(),
  dependencies: z.array(z.string()),
  context: z.object({ files: z.array(z.string()).optional(), hints: z.string().optional() }),
  created_at: z.string(),
  type: z.string().optional().describe('What kind of work it is, where its creator said so.'),
  deadline: z.string().optional().describe('When it should be done.'),
  required_capabilities: z.array(z.string()).optional(),
  blocked: z
    .boolean()
    .optional()
    .describe('True while a dependency is open or failed, or a retry is awaited.'),
  failed_dependencies: z
    .array(z.string())
    .optional()
    .describe('Dependencies that failed: the task will not become claimable.'),
  retry_at: z.string().optional(),
  claimed_by: z.string().optional(),
  claimed_at: z.string().optional(),
  claim_epoch: z.number().optional(),
  lease_expires_at: z.string().optional(),
  started_at: z.string().optional(),
  coding: z
    .object({ tool: z.string(), instructions: z.string(), branch: z.string() })
    .optional()
    .describe('What a coding task asks for; coding.report_task tells all about it.'),
  completed_at: z.string().optional(),
  result: result.optional(),
  error: z.string().optional(),
  late_result: z
    .object({
      agent_id: z.string(),
      claim_epoch: z.number(),
      received_at: z.string(),
      result: result.optional(),
      error: z.string().optional(),
    })
    .optional()
    .describe(
      'What a former holder reported after its lease had lapsed and another agent had claimed the task.',
    ),
});

type TaskAnswer = z.output<typeof taskShape>;

export function taskAnswer(task: Task): TaskAnswer {
  const { coding, context } = task;
  return {
    id: task.id,
    description: task.description,
    status: coordinationStatus(task.status),
    priority: task.priority,
    dependencies: [...task.dependencies],
    context: {
      ...(context.files.length > 0 && { files: [...context.files] }),
      ...(context.hints !== undefined && { hints: context.hints }),
    },
    created_at: task.createdAt.toISOString(),
    ...(task.type !== undefined && { type: task.type }),
    ...(task.deadline && { deadline: task.deadline.toISOString() }),
    ...(task.requiredCapabilities.length > 0 && { required_capabilities: [...task.requiredCapabilities] }),
    ...(task.status === 'available' && task.blockers > 0 && { blocked: true }),
    ...(task.failedDependencies.length > 0 && { failed_dependencies: [...task.failedDependencies] }),
    ...(task.retryAt && { retry_at: task.retryAt.toISOString() }),
    ...(task.claim && claimAnswer(task.claim, task.status)),
    ...(coding && {
      coding: { tool: coding.tool, instructions: coding.instructions, branch: coding.branch },
    }),
    ...(task.closedAt && { completed_at: task.closedAt.toISOString() }),
    ...(task.result && { result: resultAnswer(task.result) }),
    ...(task.error !== undefined && { error: task.error }),
    ...lateResultOf(task),
  };
}

function claimAnswer(claim: Claim, status: TaskStatus): Partial<TaskAnswer> {
  return {
    claimed_by: claim.agentId,
    claimed_at: claim.claimedAt.toISOString(),
    claim_epoch: claim.epoch,
    ...(isHeld(status) && { lease_expires_at: claim.leaseExpiresAt.toISOString() }),
    ...(claim.startedAt && { started_at: claim.startedAt.toISOString() }),
  };
}

export function resultAnswer(stored: TaskResult): z.output<typeof result> {
  return {
    output: stored.output,
    ...(stored.filesModified && { files_modified: [...stored.filesModified] }),
    ...(stored.filesCreated && { files_created: [...stored.filesCreated] }),
  };
}

/** For the answers that show nothing else of a task. */
export function lateResultOf({ lateResult: late }: Task): Pick<TaskAnswer, 'late_result'> {
  if (late === undefined) return {};
  const late_result = {
    agent_id: late.agentId,
    claim_epoch: late.epoch,
    received_at: late.receivedAt.toISOString(),
    ...(late.result && { result: resultAnswer(late.result) }),
    ...(late.error !== undefined && { error: late.error }),
  };
  return { late_result };
}

export const discoveryShape = z.object({
  id: z.string(),
  agent_id: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  created_at: z.string(),
});

export function discoveryAnswer(discovery: Discovery): z.output<typeof discoveryShape> {
  return {
    id: discovery.id,
    agent_id: discovery.agentId,
    content: discovery.content,
    tags: [...discovery.tags],
    created_at: discovery.createdAt.toISOString(),
  };
}

/** How complete_task and fail_task answer. */
export const outcomeShape = z.object({
  success: z.boolean(),
  message: z.string().optional(),
  retry_at: z.string().optional().describe('When the task becomes claimable again.'),
  retries_left: z.number().optional(),
  blocked_tasks: z
    .array(z.string())
    .optional()
    .describe('Tasks that depend on this failed one and stay blocked.'),
  late_result: taskShape.shape.late_result,
});

export function outcomeAnswer({ kind, task }: TaskOutcome): z.output<typeof outcomeShape> {
  const late = lateResultOf(task);
  if (kind === 'late') {
    const by = task.claim === undefined ? '' : ` by "${task.claim.agentId}"`;
    const message = `Your lease had lapsed and the task is now ${task.status}${by}. Your report is kept as its late_result.`;
    return { success: false, message, ...late };
  }
  if (task.status === 'available') {
    const retry = task.retryAt && { retry_at: task.retryAt.toISOString() };
    return { success: true, ...retry, retries_left: MAX_RETRIES - task.retries, ...late };
  }
  const isBlocking = task.status === 'failed' && task.dependents.length > 0;
  return { success: true, ...(isBlocking && { blocked_tasks: [...task.dependents] }), ...late };
}
